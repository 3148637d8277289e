//! XFS on a striped volume.

use super::dir;
use super::systems::audit;

#[test]
#[ignore = "needs a lab: lab/test lvm"]
fn the_audit_reads_stripes_from_the_file_system_to_the_disks() {
    let facts = audit();
    facts.mount_is("fstype", "xfs");
    facts.mount_is("source", "/dev/mapper/lab-striped");
    facts.mount_is("stripe_unit_bytes", 65_536);
    facts.is("lv[lab/striped].segment_type", "striped");
    facts.is("lv[lab/striped].stripes", 8);
    facts.is("lv[lab/striped].stripe_size", "65536B");
    let disks = format!("mount[{}].disks", dir().display());
    let wanted = ["vda", "vdb", "vdc", "vdd", "vde", "vdf", "vdg", "vdh"];
    facts.is(&disks, &wanted[..]);
    for rule in ["LVM-001", "LVM-002"] {
        facts.rule_is(rule, "pass");
    }
}
