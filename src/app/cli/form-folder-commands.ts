import { ApiError } from '#kit/errors.ts';
import { call } from './api.ts';
import { apiCommand, type Command, PartlyDone } from './command.ts';
import type { FormChange } from './compare-forms.ts';
import type { FormPlan } from './plan-forms.ts';
import { describe } from './print.ts';
import { text } from './values.ts';

const folder = { ...text('<folder>'), isFile: true };

/** They bring the rooms of the operations along, which take most of a start. */
const loadFolders = async () => ({
  ...(await import('./form-files.ts')),
  ...(await import('./plan-forms.ts')),
});

/** Forms as files of a folder, which git keeps (docs/guides/forms-as-code.md). */
export const formFolderCommands: readonly Command[] = [
  apiCommand({
    name: 'forms pull',
    summary: 'Writes every form that is not archived into a folder, each as a file of JSON.',
    about:
      'A form whose file is there already, by its id, is written into that; what is a module is left as it is.',
    parameters: { folder },
    async run({ api }, { folder }) {
      const { listAllForms, newFileName, readFormFiles, writeFormFile } = await loadFolders();
      const known = await readFormFiles(folder);
      const taken = new Set(known.map(({ file }) => file));
      const data: object[] = [];
      for (const { id, name, status } of await listAllForms(api)) {
        if (status === 'archived') continue;
        const file = known.find((form) => form.id === id)?.file ?? newFileName(name, taken);
        taken.add(file);
        const { structure, settings } = await call(api, 'getForm', { params: { id } });
        const isModule = !file.endsWith('.json');
        const isWritten =
          !isModule && (await writeFormFile(folder, { file, id, status, structure, settings }));
        data.push({ file, id, name, action: isWritten ? 'written' : isModule ? 'left' : 'none' });
      }
      return { data };
    },
  }),
  apiCommand({
    name: 'forms plan',
    summary:
      'Says what applying a folder would do: what differs, and which answers it touches. Changes nothing.',
    about: 'It ends with 1 when a form would be refused. Modules of the folder (.ts, .js) are run.',
    parameters: { folder },
    show: sayAnswer,
    async run({ api }, { folder }) {
      const { planForms, readFormFiles } = await loadFolders();
      const data = (await planForms(api, await readFormFiles(folder))).map(({ plan }) => plan);
      requireValid(data);
      return { data };
    },
  }),
  apiCommand({
    name: 'forms apply',
    summary: 'Makes the service have the forms of a folder as they are: new ones, changes, or nothing.',
    about:
      'Nothing is done when a form would be refused. What somebody changes in between is not overwritten: it ends with 1, and may be run again. Forms that no file has stay as they are. Modules of the folder (.ts, .js) are run.',
    parameters: { folder },
    show: sayAnswer,
    async run({ api }, { folder }) {
      const { applyPlan, planForms, readFormFiles } = await loadFolders();
      const planned = await planForms(api, await readFormFiles(folder));
      requireValid(planned.map(({ plan }) => plan));
      const data: object[] = [];
      for (const each of planned) {
        const { file, name, action } = each.plan;
        try {
          data.push({ file, id: await applyPlan(api, each), name, action });
        } catch (error) {
          if (!(error instanceof ApiError) || data.length === 0) throw error;
          throw new PartlyDone(`${file}: ${error.message} What stands above is done.`, { data });
        }
      }
      return { data };
    },
  }),
];

/** @throws PartlyDone with all plans, where one would be refused. */
function requireValid(data: readonly FormPlan[]): void {
  const wrong = data.filter(({ problems }) => problems.length > 0).map(({ file }) => file);
  if (wrong.length > 0)
    throw new PartlyDone(`${wrong.join(', ')} would be refused; nothing was changed.`, { data });
}

/** Plans as a person reads them, and what was done as a table. */
function sayAnswer(answer: object): string {
  const { data } = answer as { data: readonly FormPlan[] };
  const isOfPlans = data.every((line) => 'changes' in line) && data.length > 0;
  return isOfPlans ? data.flatMap(linesOf).map(printable).join('\n') : describe(answer);
}

const words: Readonly<Record<FormPlan['action'], string>> = {
  create: 'is new',
  update: 'changes',
  none: 'stays as it is',
};

const linesOf = ({ file, name, action, changes, impact, problems, warnings }: FormPlan): string[] => [
  `${file}: "${name}" ${words[action]}`,
  ...changes.map((change) => `  ${sayChange(change)}`),
  ...(impact ?? [{ message: 'The key may not change forms, so nobody counted answers.' }]).map(
    ({ message }) => `  ! ${message}`,
  ),
  ...warnings.map(({ message }) => `  ? ${message}`),
  ...problems.map(({ message, path }) => `  x ${path ? `[${path.join(', ')}] ` : ''}${message}`),
];

const marks: Readonly<Record<FormChange['change'], string>> = {
  added: '+',
  removed: '-',
  changed: '~',
  moved: '>',
};

function sayChange({ change, what, name, before, after }: FormChange): string {
  const start = `${marks[change]} ${what}`;
  if (change === 'added') return `${start} (${String(after)})`;
  if (change === 'removed') return `${start} (${String(before)})`;
  if (change === 'moved')
    return before === after ? `${start}: moved` : `${start}: from ${String(before)} to ${String(after)}`;
  return `${start}${name === undefined ? '' : `.${name}`}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
}

/** Control characters would act on the terminal: a name may hold any. */
const printable = (line: string): string => line.replaceAll(/\p{Cc}/gu, '\ufffd');
