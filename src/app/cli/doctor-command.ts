import type { Diagnosis } from '../checks/examine.ts';
import { machineCommand, PartlyDone } from './command.ts';

const marks: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok', warning: '!!', problem: 'XX' };

export const doctorCommand = machineCommand({
  name: 'doctor',
  summary: 'Looks at everything around the service, and says of each thing that is wrong what to do.',
  about:
    'It changes nothing, beside a running service or without one. Warnings end with 0, problems with 1. What is wrong for sure stops a start as well.',
  async run({ config, log }) {
    const { examine } = await import('../checks/examine.ts');
    const answer = { data: await examine(config, log) };
    const problems = answer.data.filter(({ state }) => state === 'problem').length;
    if (problems > 0)
      throw new PartlyDone(
        problems === 1 ? 'There is a problem.' : `There are ${problems} problems.`,
        answer,
      );
    return answer;
  },
  show: (answer) =>
    (answer as { data: Diagnosis[] }).data
      .flatMap(({ check, state, finding, remedy }) => [
        `${marks[state]}  ${check.padEnd(17)} ${finding}`,
        ...(remedy === null ? [] : [`${' '.repeat(22)}${remedy}`]),
      ])
      .join('\n'),
});
