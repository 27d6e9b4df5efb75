/*
 * chroot.so: a SPANK plugin that puts job steps into the jail.
 *
 *   required chroot.so /mnt/jail
 *
 * slurmstepd calls slurm_spank_init_post_opt as root, before it opens a step's files, changes to the
 * job's folder or starts a task, so batch scripts, srun's steps and interactive steps, with all that
 * they read and write, are inside. (task_init_privileged would be too late: output files are opened
 * before it.) slurmd, its prologs and epilogs stay outside, and so does the extern step, which runs
 * nothing of a user's.
 *
 * A step that cannot enter must not run. Slurm sees to that where the plugin is `required`: any error
 * here ends the step, and a batch job's node is drained.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(chroot, 1)

/* Slurm takes only what is below zero for a failure; its own ESPANK_ERROR is not. */
#define REFUSED (-1)

static int refuse(const char *why, const char *jail, const char *cure)
{
	char text[512];
	int log;

	snprintf(text, sizeof(text), "chroot: %s %s: %m; the step does not start: %s", why, jail, cure);
	slurm_error("%s", text);
	/* slurmstepd writes to a log file and nowhere else, and most containers have none. */
	log = open("/proc/1/fd/2", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (log >= 0) {
		dprintf(log, "%s\n", text);
		close(log);
	}
	return REFUSED;
}

/*
 * All that may fail comes before the root changes: slurmstepd reports a failure by munge's socket,
 * which a jail that cannot be entered may not have, and srun would wait for ever.
 */
static int enter(const char *jail)
{
	/* Only for the calling thread, from which slurmstepd forks every task. */
	if (unshare(CLONE_NEWNS) < 0)
		return refuse("mount namespace for", jail, "give slurmd's container CAP_SYS_ADMIN");
	/* Mounts of the container still arrive here, and ours never there. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return refuse("own mounts for", jail, "give slurmd's container CAP_SYS_ADMIN");
	if (chdir(jail) < 0)
		return refuse("change to", jail, "mount the jail's volume there");
	/* One for this step: what the container hides in its /proc stays in the container. */
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return refuse("proc in", jail, "the jail has to be populated");
	/*
	 * The old root comes to lie on the new one and is taken off it: pivot_root(2). A folder in the
	 * jail to keep it in would be one that somebody can remove, for all nodes at once.
	 */
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return refuse("pivot_root to", jail, "the jail has to be a mounted volume");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return refuse("old root in", jail, "look at the kernel's log of this node");
	return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av)
{
	uint32_t step;

	/* srun, sbatch and salloc load the plugin as well, inside the jail. */
	if (spank_context() != S_CTX_REMOTE)
		return ESPANK_SUCCESS;
	errno = EINVAL;
	if (ac < 1 || av[0][0] != '/')
		return refuse("plugstack.conf names no jail but", ac < 1 ? "nothing" : av[0],
			      "write `required chroot.so /mnt/jail`");
	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return refuse("slurmstepd does not say which step is to enter", av[0],
			      "build the plugin for this version of Slurm");
	return step == SLURM_EXTERN_CONT ? ESPANK_SUCCESS : enter(av[0]);
}
