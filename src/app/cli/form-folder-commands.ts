import { mkdir } from 'node:fs/promises';
import { formatCount } from '#ast/basics/format-number.ts';
import { ApiError } from '#kit/errors.ts';
import { callOperation } from '../operations/call-operation.ts';
import { type Command, defineApiCommand, flagOption, PartialFailureError } from './command.ts';
import type { FormDifference, FormPlan } from './plan-forms.ts';
import { formatCommandResult } from './print.ts';
import { textValue } from './values.ts';

const folder = { ...textValue('<folder>'), isFile: true };

/** Loaded on use: these modules import the operations, which take most of a command's start time. */
const loadFolders = async () => ({
  ...(await import('./form-files.ts')),
  ...(await import('./plan-forms.ts')),
});

/** Commands that keep forms as files in a folder, for example in Git (docs/guides/forms-as-code.md). */
export const formFolderCommands: readonly Command[] = [
  defineApiCommand({
    name: 'forms pull',
    summary: 'Writes each form that is not archived to a JSON file in a folder.',
    about:
      'Creates the folder if it does not exist. If a file already contains the id of a form, the form is written to that file. Modules are not changed.',
    parameters: { folder },
    async run({ api }, { folder }) {
      const { hashForm, listAllForms, newFileName, readFormFiles, readLockFile, ...files } =
        await loadFolders();
      await mkdir(folder, { recursive: true });
      const known = await readFormFiles(folder);
      const lock = await readLockFile(folder);
      const taken = new Set([files.lockFileName, ...known.map(({ file }) => file)]);
      const data: object[] = [];
      for (const { id, name, status } of await listAllForms(api)) {
        if (status === 'archived') continue;
        const file = known.find((form) => form.id === id)?.file ?? newFileName(name, taken);
        taken.add(file);
        const { structure, settings } = await callOperation(api, 'getForm', { params: { id } });
        lock.set(id, hashForm({ status, structure, settings }));
        const isModule = !file.endsWith('.json');
        const isWritten =
          !isModule && (await files.writeFormFile(folder, { file, id, status, structure, settings }));
        data.push({ file, id, name, action: isWritten ? 'written' : isModule ? 'left' : 'none' });
      }
      await files.writeLockFile(folder, lock);
      return { data };
    },
  }),
  defineApiCommand({
    name: 'forms plan',
    summary: 'Shows what `forms apply` would change and which answers are affected. Changes nothing.',
    about:
      'Exits with 1 if a form would be rejected and, with --check, with 2 if anything differs. Modules in the folder (.ts, .js) are executed.',
    parameters: { folder },
    options: { check: { ...flagOption, about: 'Exits with 2 if anything differs.' } },
    show: formatPlans,
    async run({ api }, { folder, check }) {
      const { planForms, readFormFiles, readLockFile } = await loadFolders();
      const planned = await planForms(api, await readFormFiles(folder), await readLockFile(folder));
      const data = planned.map(({ plan }) => plan);
      requireValid(data);
      const count = data.filter(({ action }) => action !== 'none').length;
      if (check && count > 0)
        throw new PartialFailureError(`${formatCount(count, 'form')} would change.`, { data }, 'differs');
      return { data };
    },
  }),
  defineApiCommand({
    name: 'forms apply',
    summary: 'Creates and updates forms so that the service matches the folder.',
    about:
      'Changes nothing if a form would be rejected. Exits with 1 if another person changes a form in the meantime; run it again. Forms without a file are not changed. Modules in the folder (.ts, .js) are executed.',
    parameters: { folder },
    show: formatPlans,
    async run({ api }, { folder }) {
      const { applyPlan, hashForm, planForms, readFormFiles, ...files } = await loadFolders();
      const lock = await files.readLockFile(folder);
      const planned = await planForms(api, await readFormFiles(folder), lock);
      requireValid(planned.map(({ plan }) => plan));
      const data: object[] = [];
      for (const each of planned) {
        const { file, name, action } = each.plan;
        try {
          const id = await applyPlan(api, each);
          data.push({ file, id, name, action });
          lock.set(id, hashForm(await callOperation(api, 'getForm', { params: { id } })));
          await files.writeLockFile(folder, lock);
        } catch (error) {
          if (!(error instanceof ApiError) || data.length === 0) throw error;
          throw new PartialFailureError(`${file}: ${error.message} The forms listed above were applied.`, {
            data,
          });
        }
      }
      return { data };
    },
  }),
];

/**
 * Throws if a plan has problems.
 * @throws PartlyDone with all plans.
 */
function requireValid(data: readonly FormPlan[]): void {
  const wrong = data.filter(({ problems }) => problems.length > 0).map(({ file }) => file);
  if (wrong.length > 0)
    throw new PartialFailureError(`${wrong.join(', ')} would be rejected. Nothing was changed.`, { data });
}

/** Formats plans as lines, and applied changes as a table. */
function formatPlans(answer: object): string {
  const { data } = answer as { data: readonly FormPlan[] };
  const isPlan = data.every((line) => 'changes' in line) && data.length > 0;
  if (!isPlan) return formatCommandResult(answer);
  const differing = data.filter(({ action, problems }) => action !== 'none' || problems.length > 0);
  const same = data.length - differing.length;
  const doubtful = data.filter((plan) => !differing.includes(plan) && plan.warnings.length > 0);
  return [
    ...[...differing, ...doubtful].flatMap(linesOf).map(printable),
    ...(same > 0 ? [`${formatCount(same, 'form')} unchanged.`] : []),
  ].join('\n');
}

const actions: Readonly<Record<FormPlan['action'], string>> = {
  create: 'is new',
  update: 'changes',
  none: 'is unchanged',
};

const linesOf = (plan: FormPlan): string[] => [
  `${plan.file}: "${plan.name}" ${actions[plan.action]}`,
  ...(plan.service_changed
    ? [
        '  ! Changed on the service since the last pull. Applying reverts that change; run `forms pull` to keep it.',
      ]
    : []),
  ...plan.changes.map((change) => `  ${formatChange(change)}`),
  ...(
    plan.impact ?? [{ message: 'This API key cannot change forms, so affected answers were not counted.' }]
  ).map(({ message }) => `  ! ${message}`),
  ...plan.warnings.map(({ message }) => `  ? ${message}`),
  ...plan.problems.map(({ message, path }) => `  x ${path ? `[${path.join(', ')}] ` : ''}${message}`),
];

const marks: Readonly<Record<FormDifference['change'], string>> = {
  added: '+',
  removed: '-',
  changed: '~',
  moved: '>',
};

function formatChange({ change, what, name, before, after }: FormDifference): string {
  const start = `${marks[change]} ${what}`;
  if (change === 'added') return `${start} (${String(after)})`;
  if (change === 'removed') return `${start} (${String(before)})`;
  if (change === 'moved')
    return before === after ? `${start}: moved` : `${start}: from ${String(before)} to ${String(after)}`;
  return `${start}${name === undefined ? '' : `.${name}`}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
}

/** Replaces control characters, which could affect the terminal. */
const printable = (line: string): string => line.replaceAll(/\p{Cc}/gu, '\ufffd');
