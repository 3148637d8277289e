//! Files as the engine sees them.
