//! A logical volume over named devices, made for a cell and removed after it.

use std::path::PathBuf;

use super::tool;

/// Marks what we made: nothing else is removed.
const TAG: &str = "gristmill-matrix";

/// Stripe, if the plan names none: the RHEL paper's.
pub const STRIPE: &str = "64k";

/// Name of the volume group of a volume of a series.
pub fn group(series: &str, volume: &str) -> String {
    format!("gristmill-{series}-{volume}")
}

/// Commands that make a volume over the first `stripes` of the devices, and its path.
pub fn make(
    name: &str,
    devices: &[String],
    stripes: usize,
    stripe: &str,
) -> (Vec<Vec<String>>, PathBuf) {
    let used = &devices[..stripes.min(devices.len())];
    let group = [
        tool::words(&["vgcreate", "--yes", "--addtag", TAG, name]),
        used.to_vec(),
    ]
    .concat();
    let stripes = used.len().to_string();
    let volume = tool::words(&[
        "lvcreate",
        "--yes",
        "--wipesignatures",
        "n",
        "--extents",
        "100%FREE",
        "--stripes",
        &stripes,
        "--stripesize",
        stripe,
        "--name",
        "data",
        name,
    ]);
    let path = PathBuf::from("/dev").join(name).join("data");
    (vec![group, volume], path)
}

/// Removes a volume group that we made, and the marks of LVM on its devices.
pub fn remove(name: &str, devices: &[String]) -> Result<(), String> {
    let select = format!("vg_name={name} && vg_tags={TAG}");
    let listed = tool::run(&tool::words(&[
        "vgs",
        "--noheadings",
        "-o",
        "vg_name",
        "--select",
        &select,
    ]));
    let listed = listed.map_err(|error| error.to_string())?;
    if listed.trim() == name {
        let words = tool::words(&["vgremove", "--yes", "--force", name]);
        tool::run(&words).map_err(|error| error.to_string())?;
    }
    for device in devices {
        let select = format!("pv_name={device} && vg_name=\"\"");
        let listed = tool::run(&tool::words(&[
            "pvs",
            "--noheadings",
            "-o",
            "pv_name",
            "--select",
            &select,
        ]));
        if listed.map_err(|error| error.to_string())?.trim() == device {
            tool::run(&tool::words(&["pvremove", "--yes", device]))
                .map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_striped_over_the_first_devices() {
        let devices = ["/dev/sdb", "/dev/sdc", "/dev/sdd"].map(str::to_owned);
        let (commands, path) = make(&group("rhel", "work"), &devices, 2, STRIPE);
        let shown: Vec<String> = commands.iter().map(|words| tool::shown(words)).collect();
        assert_eq!(
            shown,
            [
                "vgcreate --yes --addtag gristmill-matrix gristmill-rhel-work /dev/sdb /dev/sdc",
                "lvcreate --yes --wipesignatures n --extents 100%FREE --stripes 2 --stripesize 64k --name data \
                 gristmill-rhel-work",
            ]
        );
        assert_eq!(path, PathBuf::from("/dev/gristmill-rhel-work/data"));
    }
}
