/* completions.c: completion scripts, made from the table of verbs.
 *
 * Every script walks the words that are there already to the verb they name,
 * then offers what that verb has: verbs below it, or its options, what its
 * argument names (`baton names KIND` asks the server), and files. */
#define _GNU_SOURCE /* memmem */
#include "cli/names.h"

/* Calls `each` for a verb and all below it; `at` is the verb with everything before it but the
 * program's name: " json check". */
static void walk(struct buf *out, const struct verb *v, str at,
                 void (*each)(struct buf *out, const struct verb *v, str at))
{
    each(out, v, at);
    for (const struct verb *below = v->verbs; below && below->name; below++)
        walk(out, below, arena_printf(out->arena, STR_FMT " %s", STR_ARG(at), below->name), each);
}

/* What the first argument of a verb names; NULL: nothing that the server has a list of. What is made has
 * a name of its own. */
static const char *argument_kind(struct arena *a, const struct verb *v, str at)
{
    str noun, rest, first;

    str_cut(str_slice(at, 1, at.len), ' ', &noun, &rest);
    if (!v->args || v->verbs || str_eq(noun, STR("json")))
        return NULL;
    str_cut(str_from(v->args), ' ', &first, &rest);
    const char *kind = names_kind(a, noun, first);
    bool makes = strcmp(v->name, "create") == 0 || strcmp(v->name, "start") == 0;
    return kind && makes && str_eq(str_from(kind), noun) ? NULL : kind;
}

/* What the value of an option names. */
static const char *option_kind(struct arena *a, const struct option *o)
{
    static const char *const values[] = { "NAME", "ID", "TEXT" };

    for (size_t i = 0; o->value && i < sizeof values / sizeof *values; i++)
        if (strcmp(o->value, values[i]) == 0)
            return names_kind(a, STR(""), str_from(o->name));
    return NULL;
}

/* The loop that bash and zsh share: it leaves the verb reached in $at. */
static void known_verb(struct buf *out, const struct verb *v, str at)
{
    (void)v;
    if (at.len)
        buf_printf(out, "            '" STR_FMT "') at='" STR_FMT "' ;;\n", STR_ARG(at),
                   STR_ARG(at));
}

static void known_verbs(struct buf *out, const struct verb *root)
{
    buf_add(out, STR("        case \"$at $word\" in\n"));
    walk(out, root, STR(""), known_verb);
    buf_add(out, STR("        esac\n"
                     "    done\n"
                     "    case \"$at\" in\n"));
}

/* ---- bash ---- */

static void bash_case(struct buf *out, const struct verb *v, str at)
{
    buf_printf(out, "        '" STR_FMT "') %s='", STR_ARG(at), v->verbs ? "verbs" : "options");
    for (const struct verb *below = v->verbs; below && below->name; below++)
        buf_printf(out, "%s ", below->name);
    for (const struct option *o = v->options; o && o->name; o++)
        buf_printf(out, "%s ", o->name);
    buf_add(out, STR("--help'"));
    const char *kind = argument_kind(out->arena, v, at);
    if (kind)
        buf_printf(out, " names=%s", kind);
    buf_add(out, STR(" ;;\n"));
}

/* Each option once, whatever verbs have it. */
static void option_case(struct buf *out, const struct verb *v, str at)
{
    (void)at;
    for (const struct option *o = v->options; o && o->name; o++) {
        const char *kind = option_kind(out->arena, o);
        str line = kind ? arena_printf(out->arena, "        %s) names=%s ;;\n", o->name, kind)
                        : STR("");
        if (kind && !memmem(out->at, out->len, line.at, line.len))
            buf_add(out, line);
    }
}

static void option_cases(struct buf *out, const struct verb *root, const char *before)
{
    buf_printf(out, "    case \"%s\" in\n", before);
    walk(out, root, STR(""), option_case);
    buf_add(out, STR("        -a) names=agent ;;\n"
                     "    esac\n"));
}

static void bash_script(struct buf *out, const struct verb *root)
{
    buf_add(
        out,
        STR("_baton() {\n"
            "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" at='' verbs='' options='' names='' word\n"
            "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"));
    known_verbs(out, root);
    walk(out, root, STR(""), bash_case);
    buf_add(out, STR("    esac\n"));
    option_cases(out, root, "${COMP_WORDS[COMP_CWORD-1]}");
    buf_add(out,
            STR("    case \"$cur\" in\n"
                "        -*) verbs=\"$verbs $options\" ;;\n"
                "        *) [ -z \"$names\" ] ||\n"
                "            verbs=\"$verbs $(\"${COMP_WORDS[0]}\" names $names 2>/dev/null)\" ;;\n"
                "    esac\n"
                "    COMPREPLY=( $(compgen -W \"$verbs\" -- \"$cur\") )\n"
                "}\n"
                "complete -o default -F _baton baton\n"));
}

/* ---- zsh ---- */

/* name:help for _describe, in single quotes. */
static void zsh_entry(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, " '%s:", name);
    for (; *help; help++)
        buf_add(out, *help == '\'' ? STR("'\\''") : (str){ help, 1 });
    buf_byte(out, '\'');
}

static void zsh_case(struct buf *out, const struct verb *v, str at)
{
    buf_printf(out, "        '" STR_FMT "') %s=(", STR_ARG(at), v->verbs ? "verbs" : "options");
    for (const struct verb *below = v->verbs; below && below->name; below++)
        zsh_entry(out, below->name, below->summary);
    for (const struct option *o = v->options; o && o->name; o++)
        zsh_entry(out, o->name, o->help);
    zsh_entry(out, "--help", "show help");
    buf_add(out, STR(" )"));
    const char *kind = argument_kind(out->arena, v, at);
    if (kind)
        buf_printf(out, " names=%s", kind);
    buf_add(out, STR(" ;;\n"));
}

/* As a file of $fpath the script is the body of _baton when it first runs; sourced, it is not. */
static void zsh_script(struct buf *out, const struct verb *root)
{
    buf_add(out, STR("#compdef baton\n"
                     "_baton() {\n"
                     "    local at='' names='' word\n"
                     "    local -a verbs options\n"
                     "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"));
    known_verbs(out, root);
    walk(out, root, STR(""), zsh_case);
    buf_add(out, STR("    esac\n"));
    option_cases(out, root, "$words[CURRENT-1]");
    buf_add(out, STR("    if (( $#verbs )); then\n"
                     "        _describe command verbs\n"
                     "    elif [[ \"$PREFIX\" == -* ]]; then\n"
                     "        _describe option options\n"
                     "    elif [[ -n \"$names\" ]]; then\n"
                     "        compadd -- ${(f)\"$($words[1] names $names 2>/dev/null)\"}\n"
                     "    else\n"
                     "        _files\n"
                     "    fi\n"
                     "}\n"
                     "if [[ \"$funcstack[1]\" == _baton ]]; then\n"
                     "    _baton \"$@\"\n"
                     "else\n"
                     "    compdef _baton baton\n"
                     "fi\n"));
}

/* ---- fish ---- */

static void fish_quote(struct buf *out, const char *text)
{
    buf_byte(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_byte(out, '\\');
        buf_byte(out, *text);
    }
    buf_byte(out, '\'');
}

static void fish_line(struct buf *out, str at, const char *flag, const char *name, const char *help)
{
    buf_printf(out, "complete -c baton -n '__baton_at \"" STR_FMT "\"' %s %s -d ", STR_ARG(at),
               flag, name);
    fish_quote(out, help);
    buf_byte(out, '\n');
}

static void fish_verb(struct buf *out, const struct verb *v, str at)
{
    for (const struct verb *below = v->verbs; below && below->name; below++)
        fish_line(out, at, "-f -a", below->name, below->summary);
    for (const struct option *o = v->options; o && o->name; o++) {
        const char *names = option_kind(out->arena, o);
        const char *flag = names ? arena_printf(out->arena, "-x -a '(baton names %s)' -l", names).at
                           : o->value ? "-r -l"
                                      : "-l";
        if (o->letter)
            flag = arena_printf(out->arena, "-s %c %s", o->letter, flag).at;
        fish_line(out, at, flag, o->name + 2, o->help);
    }
    fish_line(out, at, "-l", "help", "show help");
    const char *kind = argument_kind(out->arena, v, at);
    if (kind)
        fish_line(out, at, "-f -a", arena_printf(out->arena, "'(baton names %s)'", kind).at, kind);
}

static void fish_known(struct buf *out, const struct verb *v, str at)
{
    (void)v;
    if (at.len)
        buf_printf(out, "            case '" STR_FMT "'\n                set at \"$at $word\"\n",
                   STR_ARG(at));
}

static void fish_script(struct buf *out, const struct verb *root)
{
    buf_add(out, STR("function __baton_at\n"
                     "    set -l words (commandline -opc)\n"
                     "    set -e words[1]\n"
                     "    set -l at ''\n"
                     "    for word in $words\n"
                     "        switch \"$at $word\"\n"));
    walk(out, root, STR(""), fish_known);
    buf_add(out, STR("        end\n"
                     "    end\n"
                     "    test \"$at\" = \"$argv[1]\"\n"
                     "end\n"));
    walk(out, root, STR(""), fish_verb);
}

/* ---- the verb ---- */

static const struct shell {
    const char *name;
    void (*script)(struct buf *out, const struct verb *root);
} shells[] = {
    { "bash", bash_script },
    { "zsh", zsh_script },
    { "fish", fish_script },
};

err completions_run(struct cli *c)
{
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(c->args[0], shells[i].name) != 0)
            continue;
        struct buf out = buf_in(c->arena);
        verb_all(c);
        shells[i].script(&out, c->root);
        cli_write(c, buf_str(&out));
        return NULL;
    }
    return err_new(c->arena, ERR_INVALID, "expected bash, zsh or fish, but found '%s'", c->args[0]);
}
