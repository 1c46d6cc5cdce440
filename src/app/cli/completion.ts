import { fileURLToPath } from 'node:url';
import type { Command, Option } from './command.ts';
import { serviceOptions } from './service-options.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** What may come next. */
type Rule = {
  /** The words of the command so far. */
  name: string;
  /** The option before, when its value comes next; else ''. */
  option: string;
  words: readonly (readonly [word: string, about: string])[];
  isFile: boolean;
};

/** The script that lets a shell complete every command with its options and their words, and that runs nothing itself. */
export const completionScript = (shell: (typeof shells)[number], commands: readonly Command[]): string =>
  scripts[shell](rulesOf(commands));

/** The folder of this installation, for a `formloom` that may be typed anywhere. */
const home = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

const always: Readonly<Record<string, Option<unknown>>> = {
  json: { value: undefined, isRequired: false, about: 'Prints one JSON document' },
  help: { value: undefined, isRequired: false, about: 'Explains the command' },
};

function rulesOf(commands: readonly Command[]): Rule[] {
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0]!);
  const firsts = [...groups].map(
    ([first, group]) => [first, group.length === 1 ? group[0]!.summary : ''] as const,
  );
  return [
    { name: '', option: '', words: firsts, isFile: false },
    ...[...groups].flatMap(([first, group]): Rule[] => {
      const words = group.map(({ name, summary }) => [name.slice(first.length + 1), summary] as const);
      return words[0]![0] === '' ? [] : [{ name: first, option: '', words, isFile: false }];
    }),
    ...commands.flatMap(rulesOfCommand),
  ];
}

function rulesOfCommand(command: Command): Rule[] {
  const { name, at, parameters } = command;
  const options = Object.entries({ ...always, ...(at === 'api' && serviceOptions), ...command.options });
  const named = (choices: readonly string[] = []) => choices.map((choice) => [choice, ''] as const);
  return [
    {
      name,
      option: '',
      words: [
        ...Object.values(parameters).flatMap(({ choices }) => named(choices)),
        ...options.map(([option, { about = '' }]) => [`--${option}`, about] as const),
      ],
      isFile: false,
    },
    ...options.flatMap(([option, { value }]): Rule[] => {
      if (!value) return [];
      const isFile = value.isFile === true || value.shows.includes('file');
      return [{ name, option: `--${option}`, words: named(value.choices), isFile }];
    }),
  ];
}

/** A text in single quotes, on one line. */
const quoted = (text: string): string => `'${text.split('\n', 1)[0]!.replaceAll("'", `'\\''`)}'`;

/** Options before the command's words whose values are none of these. */
const valued = Object.keys(serviceOptions).map((name) => `--${name}`);

/** For bash and zsh alike: sets `offer` to the words that may come after its own, or `files` where that is a file. */
const offerInShell = (rules: readonly Rule[]): string => `command -v formloom >/dev/null 2>&1 || formloom() {
  DATA_DIR="\${DATA_DIR:-"${home}/data"}" node ${quoted(`${home}/setup.mjs`)} src/app/cli.ts "$@"
}
_formloom_offer() {
  local name='' option='' word skip='' count=0
  offer='' files=''
  for word in "$@"; do
    option=''
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in --*) option=$word ;; esac
    case "$word" in
      ${valued.join('|')}) if [ "$count" -eq 0 ]; then skip=1; fi ;;
      -*) ;;
      *) if [ "$count" -lt 2 ]; then name="\${name:+$name }$word"; count=$((count + 1)); fi ;;
    esac
  done
  case "$name $option" in
${rules
  .filter(({ option }) => option !== '')
  .map(
    ({ name, option, words, isFile }) =>
      `    ${caseOf(name, ` ${option}`)}) ${isFile ? 'files=1' : `offer=${quoted(words.map(([word]) => word).join(' '))}`}; return ;;`,
  )
  .join('\n')}
  esac
  case "$name" in
${rules
  .filter(({ option }) => option === '')
  .map(
    ({ name, words }) => `    ${caseOf(name, '')}) offer=${quoted(words.map(([word]) => word).join(' '))} ;;`,
  )
  .join('\n')}
  esac
}`;

/** A command of one word may be followed by anything. */
const caseOf = (name: string, after: string): string =>
  name === '' || name.includes(' ') || after === ''
    ? quoted(name + after)
    : `${quoted(name)}*${quoted(after)}`;

const bashScript = (rules: readonly Rule[]): string => `${offerInShell(rules)}
_formloom() {
  local offer files current=\${COMP_WORDS[COMP_CWORD]}
  _formloom_offer "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$offer" -- "$current"))
  fi
}
complete -F _formloom formloom
`;

const zshScript = (rules: readonly Rule[]): string => `#compdef formloom
${offerInShell(rules)}
_formloom() {
  local offer files
  _formloom_offer "\${(@)words[2,CURRENT-1]}"
  if [ -n "$files" ]; then _files; else compadd -- \${=offer}; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit; compinit; }
compdef _formloom formloom
`;

const fishScript = (rules: readonly Rule[]): string => `if not type -q formloom
    function formloom
        set -q DATA_DIR; or set -lx DATA_DIR ${fishQuoted(`${home}/data`)}
        node ${fishQuoted(`${home}/setup.mjs`)} src/app/cli.ts $argv
    end
end
function __formloom_offer
    set -l name
    set -l option ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        set option ''
        if test $skip = 1
            set skip 0
            continue
        end
        string match -q -- '--*' $word; and set option $word
        switch $word
            case ${valued.join(' ')}
                test (count $name) -eq 0; and set skip 1
            case '-*'
            case '*'
                test (count $name) -lt 2; and set -a name $word
        end
    end
    switch "$name $option"
${rules
  .filter(({ option }) => option !== '')
  .map((rule) => `${fishCase(rule)}\n            return`)
  .join('\n')}
    end
    switch "$name"
${rules
  .filter(({ option }) => option === '')
  .map(fishCase)
  .join('\n')}
    end
end
complete -c formloom -f -a '(__formloom_offer)'
`;

const fishQuoted = (text: string): string =>
  `'${text.split('\n', 1)[0]!.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishCase({ name, option, words, isFile }: Rule): string {
  const pairs = words.map(([word, about]) => `${fishQuoted(word)} ${fishQuoted(about)}`);
  const offer = isFile ? '__fish_complete_path (commandline -ct)' : `printf '%s\\t%s\\n' ${pairs.join(' ')}`;
  const what = option === '' ? name : `${name}${name.includes(' ') ? '' : '*'} ${option}`;
  return `        case ${fishQuoted(what)}\n            ${words.length > 0 || isFile ? offer : 'true'}`;
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
