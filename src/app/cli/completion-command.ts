import { completionScript, shells } from './completion.ts';
import type { Command } from './command.ts';
import { choice } from './values.ts';

const shell = choice(shells);

export const completionCommand: Command = {
  at: 'table',
  name: 'completion',
  summary: 'Prints what makes a shell complete `formloom`, and defines it where there is none.',
  about: [
    'bash, zsh: eval "$(npm run -s formloom -- completion bash)" in ~/.bashrc or ~/.zshrc, from this folder',
    'fish: npm run -s formloom -- completion fish > ~/.config/fish/completions/formloom.fish',
  ].join('\n'),
  parameters: { shell },
  options: {},
  show: (answer) => (answer as { script: string }).script.trimEnd(),
  run: (commands, { shell: chosen }) =>
    Promise.resolve({ script: completionScript(chosen as (typeof shells)[number], commands) }),
};
