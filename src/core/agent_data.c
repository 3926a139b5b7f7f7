/* agent_data.c: the roles that come with the program. */
#include "core/agent_data.h"

// clang-format off
static const struct agent_built_in all[] = {
    { "arc-planner",                      "Plans how its characters change in a scene" },
    { "beat-planner",                     "Breaks a scene into its beats" },
    { "blueprint-compliance-fast-checker", "Looks whether a draft keeps to its blueprint, on the surface and fast" },
    { "blueprint-validator",              "Checks whether a blueprint is complete and agrees with itself" },
    { "consequence-predictor",            "Says what would follow from each scenario" },
    { "context-analyzer",                 "Finds what came before a scene and matters in it" },
    { "dependency-mapper",                "Finds what a scene depends on, and what depends on it" },
    { "dialogue-analyst",                 "Finds how its characters speak, and of what" },
    { "dialogue-weaver",                  "Plans the dialogue of a scene" },
    { "emotional-arc-designer",           "Plans the feelings of a scene, from its beginning to its end" },
    { "generation-coordinator",           "Begins the making of a scene, and puts its result together" },
    { "impact-analyzer",                  "Says what a plan changes in the rest of the story" },
    { "prose-writer",                     "Writes a scene within its constraints" },
    { "scenario-generator",               "Thinks of ways in which a scene may go" },
    { "storyline-integrator",             "Fits the plan of a scene into the story" },
    { "validation-aggregator",            "Checks a draft in depth, or brings such checks together" },
    { "verification-planner",             "Writes the plan of how a scene is to be verified, for a person" },
};
// clang-format on

struct agent_built_in agent_built_in(size_t i)
{
    if (i >= sizeof all / sizeof *all)
        return (struct agent_built_in){ 0 };
    return all[i];
}
