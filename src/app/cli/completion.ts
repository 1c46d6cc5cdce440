import { fileURLToPath } from 'node:url';
import { type Command, type CommandOption, flagOption } from './command.ts';
import { targetOptions } from './read-input.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** A completion: a word that can follow the words of a command, or a value for one of its options. */
type Offer = readonly [name: string, option: string, word: string, about: string];

/** Stands for file names. */
const files = '<file>';

/** The folder of this installation. It is needed because `formloom` can be run in any folder. */
const home = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

const always: Readonly<Record<string, CommandOption<unknown>>> = {
  json: { ...flagOption, about: 'Prints one JSON document' },
  help: { ...flagOption, about: 'Shows help for the command' },
};

/**
 * Returns the script that completes commands, options and values in a shell. Completing does not run any
 * command.
 */
export function completionScript(shell: (typeof shells)[number], commands: readonly Command[]): string {
  const offers = offersOf(commands).map(([name, option, word, about]) =>
    [name, option, word, about.split('\n', 1)[0]!].join('\t'),
  );
  return shell === 'fish' ? fishScript(offers.join('\n')) : posixScript(shell, offers.join('\n'));
}

function offersOf(commands: readonly Command[]): Offer[] {
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0]!);
  return [
    ...[...groups].map(
      ([first, group]): Offer => ['', '', first, group.length === 1 ? group[0]!.summary : ''],
    ),
    ...commands.flatMap(offersOfCommand),
  ];
}

function offersOfCommand({ name, at, parameters, options, summary }: Command): Offer[] {
  const [first, second] = name.split(' ');
  const all = Object.entries({ ...always, ...(at === 'api' && targetOptions), ...options });
  return [
    ...(second === undefined ? [] : [[first!, '', second, summary] as const]),
    ...Object.values(parameters).flatMap(({ choices = [] }) =>
      choices.map((word): Offer => [name, '', word, '']),
    ),
    ...all.map(([option, { about = '' }]): Offer => [name, '', `--${option}`, about]),
    ...all.flatMap(([option, { value }]) => {
      const words = value?.isFile || value?.shows.includes('file') ? [files] : (value?.choices ?? []);
      return words.map((word): Offer => [name, `--${option}`, word, '']);
    }),
  ];
}

/**
 * Finds the completions for the typed words. awk reads one line for each word, a line `--`, and the
 * completions. A command is its first two words, or only the first. An option before the command says where
 * the command runs, and has a value.
 */
const find = `BEGIN { FS = "\\t" }
typed {
  line = $3 (about ? FS $4 : "") "\\n"
  if ($1 == name && $2 == option) both = both line
  else if ($1 == first && $2 == option) loose = loose line
  else if ($1 == name && $2 == "") plain = plain line
  next
}
$0 == "--" { typed = 1; first = name; sub(/ .*/, "", first); next }
$0 == "" { next }
skip { skip = 0; option = ""; next }
{ option = ($0 ~ /^--/) ? $0 : "" }
count == 0 && /^--(${Object.keys(targetOptions).join('|')})$/ { skip = 1; next }
/^-/ { next }
count < 2 { name = name (count++ ? " " : "") $0 }
END { printf "%s", both ? both : loose ? loose : plain }`;

/** Quotes a text for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const completeIn = {
  bash: `_formloom() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} found
  found=$(_formloom_offer "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  if [ "$found" = '${files}' ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$found" -- "$current"))
  fi
}
complete -F _formloom formloom
`,
  zsh: `_formloom() {
  local found=$(_formloom_offer "\${(@)words[2,CURRENT-1]}")
  if [[ $found == '${files}' ]]; then _files; else compadd -- \${(f)found}; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit; compinit; }
compdef _formloom formloom
`,
} as const;

const posixScript = (
  shell: keyof typeof completeIn,
  offers: string,
): string => `${shell === 'zsh' ? '#compdef formloom\n' : ''}command -v formloom >/dev/null 2>&1 || formloom() {
  DATA_DIR="\${DATA_DIR:-"${home}/data"}" node ${quoted(`${home}/setup.mjs`)} src/app/cli.ts "$@"
}
_formloom_offers=${quoted(offers)}
_formloom_offer() {
  printf '%s\\n' "$@" -- "$_formloom_offers" | awk ${quoted(find)}
}
${completeIn[shell]}`;

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fishScript = (offers: string): string => `if not type -q formloom
    function formloom
        set -q DATA_DIR; or set -lx DATA_DIR ${fishQuoted(`${home}/data`)}
        node ${fishQuoted(`${home}/setup.mjs`)} src/app/cli.ts $argv
    end
end
set -g __formloom_offers ${fishQuoted(offers)}
function __formloom_offer
    set -l found (printf '%s\\n' (commandline -opc)[2..-1] -- "$__formloom_offers" | awk -v about=1 ${fishQuoted(find)})
    if string match -q '${files}*' -- $found[1]
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c formloom -f -a '(__formloom_offer)'
`;
