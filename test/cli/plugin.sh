# Claude Code itself says whether the plugin is one. Where it is not at hand, nobody can.
. "${0%/*}/lib"

platform=claude-code-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
claude=${BATON_NPM:-$HOME/.cache/baton/npm}/agents/claude/node_modules/@anthropic-ai/$platform/claude
if [ ! -x "$claude" ]; then
    echo 'Claude Code is not at hand; make test-clients gets it'
    exit 77
fi

export HOME="$PWD" CLAUDE_CONFIG_DIR="$PWD/claude" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
export DISABLE_AUTOUPDATER=1
for manifest in plugin.json marketplace.json; do
    what="claude plugin validate $manifest" status=0
    "$claude" plugin validate "$SOURCE/plugin/.claude-plugin/$manifest" >out 2>err || status=$?
    exits 0
    shows 'Validation passed'
done
