/*
 * A SPANK plugin in the place of one that these images do not have; PLUGIN is its name.
 *
 * The operator's plugstack.conf names plugins for containers and NCCL in every cluster. The srun of
 * 24.11 writes two lines of errors into a user's output for each file that is missing, also where the
 * plugin is `optional`. This one is found and says no: Slurm goes on without a word where the plugin
 * is `optional`, and ends the step where it is `required`, as if there were no file.
 */
#include <slurm/spank.h>

/* SPANK_PLUGIN takes its argument by the letter. */
#define NAMED(name) SPANK_PLUGIN(name, 1)
NAMED(PLUGIN)

int slurm_spank_init(spank_t step, int count, char **arguments)
{
	(void)step, (void)count, (void)arguments;
	/* Slurm takes only what is below zero for a failure; its own ESPANK_ERROR is not. */
	return -1;
}
