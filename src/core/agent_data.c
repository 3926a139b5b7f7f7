/* agent_data.c: the roles that come with the program. */
#include "core/agent_data.h"

// clang-format off
static const struct agent_built_in all[] = {
    { "arc-planner",                         "planning",    "Plans how its characters change in a scene" },
    { "beat-planner",                        "planning",    "Breaks a scene into its beats" },
    { "blueprint-compliance-fast-checker",   "generation",  "Looks whether a draft keeps to its blueprint, on the surface and fast" },
    { "blueprint-validator",                 "generation",  "Checks whether a blueprint is complete and agrees with itself" },
    { "consequence-predictor",               "planning",    "Says what would follow from each scenario" },
    { "context-analyzer",                    "planning",    "Finds what came before a scene and matters in it" },
    { "dependency-mapper",                   "planning",    "Finds what a scene depends on, and what depends on it" },
    { "dialogue-analyst",                    "planning",    "Finds how its characters speak, and of what" },
    { "dialogue-weaver",                     "planning",    "Plans the dialogue of a scene" },
    { "emotional-arc-designer",              "planning",    "Plans the feelings of a scene, from its beginning to its end" },
    { "generation-coordinator",              "generation",  "Begins the making of a scene, and puts its result together" },
    { "impact-analyzer",                     "planning",    "Says what a plan changes in the rest of the story" },
    { "prose-writer",                        "generation",  "Writes a scene within its constraints" },
    { "scenario-generator",                  "planning",    "Thinks of ways in which a scene may go" },
    { "storyline-integrator",                "planning",    "Fits the plan of a scene into the story" },
    { "validation-aggregator",               "generation",  "Checks a draft in depth, or brings such checks together" },
    { "verification-planner",                "generation",  "Writes the plan of how a scene is to be verified, for a person" },
};
// clang-format on

struct agent_built_in agent_built_in(size_t i)
{
    if (i >= sizeof all / sizeof *all)
        return (struct agent_built_in){ 0 };
    return all[i];
}
