import { isRecord } from '#ast/basics/json.ts';
import { checkSettings } from '#ast/settings.ts';
import type { DryRun, Judgement } from '#forms/shapes.ts';
import { ApiError } from '#kit/errors.ts';
import { type ComparedNode, compareForms, compareValues, type ValueChange } from '#rules/compare-forms.ts';
import { type Api, callOperation } from '../operations/call-operation.ts';
import type { ReplyOf } from '../operations/operations.ts';
import { type FormFile, hashForm, type LockFile } from './form-files.ts';
import { UsageError } from './values.ts';

/** A difference, in the form that programs read and as a line of the plan. */
export type FormDifference = {
  change: 'added' | 'removed' | 'changed' | 'moved';
  /** What changed: `form`, `step 1`, `status`, a setting, an element by its id, or `paragraph 2`. */
  what: string;
  name?: string;
  before?: unknown;
  after?: unknown;
};

/** Lists everything in which a form differs from another one. */
function compareStructures(before: unknown, after: unknown): FormDifference[] {
  const compared = compareForms(before, after);
  const [old, fresh] = [nameParts(compared.before), nameParts(compared.after)];
  return compared.changes.flatMap((change): FormDifference[] => {
    if (change.kind === 'added')
      return [{ change: 'added', what: fresh.get(change.after)!, after: change.after.type }];
    if (change.kind === 'removed')
      return [{ change: 'removed', what: old.get(change.before)!, before: change.before.type }];
    const [was, is] = [change.before, change.after];
    const what = fresh.get(is)!;
    const placeIn = (names: Names, part: ComparedNode<unknown>): string =>
      (part.parent && names.get(part.parent)) ?? '';
    return [
      ...listChanges(compareValues({ type: was.type }, { type: is.type }), what),
      ...listChanges(change.attributes, what),
      ...(change.isMoved
        ? [{ change: 'moved', what, before: placeIn(old, was), after: placeIn(fresh, is) } as const]
        : []),
    ];
  });
}

/** Lists changed attributes of a part, or, without a part, changed settings. */
const listChanges = (changes: readonly ValueChange[], what?: string): FormDifference[] =>
  changes.map(({ name, before, after }) => ({
    change: 'changed',
    ...(what === undefined ? { what: name } : { what, name }),
    before: before ?? null,
    after: after ?? null,
  }));

type Names = ReadonlyMap<ComparedNode<unknown>, string>;

/** `form`, an element by its id, and other parts by their number: `step 1`, `paragraph 2`. */
function nameParts(parts: readonly ComparedNode<unknown>[]): Names {
  const counts = new Map<string, number>();
  return new Map(
    parts.map((part) => {
      const { type, attrs, parent } = part;
      if (!parent) return [part, 'form'];
      const isStep = parent.parent === undefined;
      if (!isStep && typeof attrs['id'] === 'string') return [part, attrs['id']];
      const kind = isStep ? 'step' : type;
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      return [part, `${kind} ${number}`];
    }),
  );
}

/** What applying a file would do to its form. */
export type FormPlan = {
  file: string;
  /** Null for a form that does not exist yet. */
  id: string | null;
  name: string;
  action: 'create' | 'update' | 'none';
  changes: FormDifference[];
  /**
   * Whether the form changed on the service since the last pull or apply; false if it is not in the lock
   * file.
   */
  service_changed: boolean;
  /**
   * What visitors can no longer answer, with the affected answers. Null if the key does not have the
   * permission to change forms.
   */
  impact: DryRun['impact'] | null;
  problems: Judgement['problems'];
  warnings: Judgement['warnings'];
};

/** A plan with the form and the ETag on which the comparison is based. */
type Planned = { plan: FormPlan; form: FormFile; tag: string | undefined };

/** Returns all forms of the workspace, without their structures. */
export async function listAllForms(api: Api): Promise<ReplyOf<'listForms'>['data']> {
  const all: ReplyOf<'listForms'>['data'] = [];
  for (let cursor: string | null | undefined = '*'; cursor; ) {
    const page: ReplyOf<'listForms'> = await callOperation(api, 'listForms', {
      query: { cursor, per_page: 100 },
    });
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}

/**
 * Compares each form of a folder with the service, without changing anything.
 * @throws UsageError if two files define the same form, or if several forms share a name.
 */
export async function planForms(api: Api, forms: readonly FormFile[], lock: LockFile): Promise<Planned[]> {
  const there = forms.every(({ id }) => id !== undefined) ? [] : await listAllForms(api);
  const planned: Planned[] = [];
  for (const form of forms) {
    const name = nameOf(form.structure);
    const named = there.filter((each) => each.name === name && each.status !== 'archived');
    if (form.id === undefined && named.length > 1)
      throw new UsageError(
        `${form.file}: ${named.length} forms are called "${name}". Set "id" to one of these ids: ${named.map(({ id }) => id).join(', ')}.`,
      );
    const id = form.id ?? named[0]?.id;
    const other = planned.find(({ plan }) => (id === undefined ? plan.name === name : plan.id === id));
    if (other) throw new UsageError(`${other.form.file} and ${form.file} both contain the form "${name}".`);
    planned.push(
      id === undefined ? await planNew(api, form, name) : await planChange(api, form, { id, name, lock }),
    );
  }
  return planned;
}

const nameOf = (structure: object): string => {
  const { attrs } = structure as { attrs?: unknown };
  return isRecord(attrs) && typeof attrs['name'] === 'string' ? attrs['name'] : '';
};

async function planNew(api: Api, form: FormFile, name: string): Promise<Planned> {
  const judged = await judge(api, form);
  const plan: FormPlan = {
    file: form.file,
    id: null,
    name,
    action: 'create',
    changes: [],
    service_changed: false,
    impact: [],
    ...judged,
  };
  return { plan, form, tag: undefined };
}

async function planChange(
  api: Api,
  form: FormFile,
  { id, name, lock }: { id: string; name: string; lock: LockFile },
): Promise<Planned> {
  const { value, tag } = await api({ name: 'getForm', params: { id } });
  const now = value as ReplyOf<'getForm'>;
  const { structure, settings, status } = form;
  const changes = [
    ...compareStructures(now.structure, structure),
    ...(settings === undefined
      ? []
      : listChanges(compareValues(now.settings as Record<string, unknown>, shownSettings(settings)))),
    ...(status === undefined ? [] : listChanges(compareValues({ status: now.status }, { status }))),
  ];
  const isSame = changes.length === 0;
  const tried = isSame
    ? { impact: [], problems: [], warnings: (await judge(api, form)).warnings }
    : await tryChange(api, form, id);
  const base = lock.get(id);
  const plan: FormPlan = {
    file: form.file,
    id,
    name,
    action: isSame ? 'none' : 'update',
    changes,
    // A file that already contains the service's change would not overwrite it.
    service_changed: !isSame && base !== undefined && base !== hashForm(now),
    ...tried,
  };
  return { plan, form: { ...form, id }, tag };
}

/** Tries the change in a dry run. A key without `forms:write` gets only the problems and warnings. */
async function tryChange(
  api: Api,
  form: FormFile,
  id: string,
): Promise<Pick<FormPlan, 'impact' | 'problems' | 'warnings'>> {
  try {
    const body = { ...documentOf(form), ...(form.status && { status: form.status }) };
    const { dry_run } = await callOperation(api, 'updateForm', {
      params: { id },
      query: { dry_run: true },
      body,
    });
    const { impact, problems, warnings } = dry_run!;
    return { impact, problems, warnings };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'forbidden') throw error;
    return { impact: null, ...(await judge(api, form)) };
  }
}

const judge = (api: Api, form: FormFile): Promise<ReplyOf<'validateForm'>> =>
  callOperation(api, 'validateForm', { body: documentOf(form) });

const documentOf = ({ structure, settings }: FormFile) => ({ structure, ...(settings && { settings }) });

/** Returns valid settings as the API returns them: with times in UTC and without null and the password. */
function shownSettings(written: object): Record<string, unknown> {
  const checked = checkSettings(written, undefined);
  const { password: _, ...settings }: Record<string, unknown> = checked.ok
    ? checked.settings
    : { ...written };
  return { access: 'public', ...settings };
}

/** Applies a plan if the form is unchanged since the comparison. @returns the id of the form. */
export async function applyPlan(api: Api, { plan, form, tag }: Planned): Promise<string> {
  if (plan.action === 'none') return plan.id!;
  const { status } = form;
  if (plan.id !== null) {
    const body = { ...documentOf(form), ...(status && { status }) };
    await api({
      name: 'updateForm',
      params: { id: plan.id },
      body,
      ...(tag !== undefined && { ifMatch: tag }),
    });
    return plan.id;
  }
  const { id } = await callOperation(api, 'createForm', {
    body: { ...documentOf(form), publish: status === 'published' },
  });
  if (status === 'archived') await callOperation(api, 'archiveForm', { params: { id } });
  return id;
}
