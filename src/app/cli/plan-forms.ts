import { isRecord, isSameJson } from '#ast/basics/json.ts';
import type { DryRun, Judgement } from '#forms/shapes.ts';
import { ApiError } from '#kit/errors.ts';
import { type Api, call } from '../operations/call-operation.ts';
import type { ReplyOf } from '../operations/operations.ts';
import { type FormFile, type FormLock, hashForm } from './form-files.ts';
import { UsageError } from './values.ts';

/** One difference between a file and the service. */
export type FormChange = {
  change: 'added' | 'removed' | 'changed' | 'moved';
  /** `form`, `step 1`, `status`, a setting, or an element by its id or its position. */
  what: string;
  /** The name of the attribute. */
  name?: string;
  before?: unknown;
  after?: unknown;
};

type Part = { place: string; type: string; attrs: Readonly<Record<string, unknown>> };

/**
 * Returns the differences between two form trees. Elements are matched by id; nodes without an id by their
 * position among nodes of their type.
 */
function compareStructures(before: unknown, after: unknown): FormChange[] {
  const [old, fresh] = [partsOf(before), partsOf(after)];
  const kept = [...fresh.keys()].filter((what) => old.has(what));
  const isMoved = movedAmong(kept, [...old.keys()]);
  return [
    ...[...fresh].flatMap(([what, part]): FormChange[] => {
      const was = old.get(what);
      if (!was) return [{ change: 'added', what, after: part.type }];
      const type: FormChange[] =
        was.type === part.type
          ? []
          : [{ change: 'changed', what, name: 'type', before: was.type, after: part.type }];
      const moved: FormChange[] =
        was.place === part.place && !isMoved(what)
          ? []
          : [{ change: 'moved', what, before: was.place, after: part.place }];
      return [...type, ...compareValues(was.attrs, part.attrs, what), ...moved];
    }),
    ...[...old].flatMap(([what, { type }]): FormChange[] =>
      fresh.has(what) ? [] : [{ change: 'removed', what, before: type }],
    ),
  ];
}

/** Returns the values that differ between two records, as attributes of `what` or under their own names. */
function compareValues(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  what?: string,
): FormChange[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => !isSameJson(before[name], after[name]))
    .map((name) => ({
      change: 'changed',
      ...(what === undefined ? { what: name } : { what, name }),
      before: before[name] ?? null,
      after: after[name] ?? null,
    }));
}

/**
 * Returns a check for whether a node moved: among the nodes in both trees, it comes earlier than before and
 * follows another node.
 */
function movedAmong(kept: readonly string[], before: readonly string[]): (what: string) => boolean {
  const stayed = before.filter((what) => kept.includes(what));
  const previous = (list: readonly string[], what: string): string | undefined =>
    list[list.indexOf(what) - 1];
  return (what) =>
    previous(kept, what) !== previous(stayed, what) && kept.indexOf(what) < stayed.indexOf(what);
}

/** Returns all nodes by id or position, in reading order. The tree may be invalid. */
function partsOf(root: unknown): Map<string, Part> {
  const parts = new Map<string, Part>();
  const counts = new Map<string, number>();
  const visit = (node: unknown, place: string, kind: 'form' | 'step' | 'element'): void => {
    if (!isRecord(node)) return;
    const { type, attrs, children } = node;
    const known = isRecord(attrs) ? attrs : {};
    const called = kind === 'element' ? String(type) : kind;
    const hasId = kind === 'element' && typeof known['id'] === 'string';
    if (!hasId) counts.set(called, (counts.get(called) ?? 0) + 1);
    const what = hasId ? String(known['id']) : kind === 'form' ? kind : `${called} ${counts.get(called)}`;
    parts.set(what, { place, type: String(type), attrs: known });
    for (const child of Array.isArray(children) ? (children as unknown[]) : [])
      visit(child, what, kind === 'form' ? 'step' : 'element');
  };
  visit(root, '', 'form');
  return parts;
}

/** What `forms apply` would do to the form in a file. */
export type FormPlan = {
  file: string;
  /** Null if the form does not exist yet. */
  id: string | null;
  name: string;
  action: 'create' | 'update' | 'none';
  changes: FormChange[];
  /**
   * Whether the form changed on the service since the last pull or apply; false if it is not in the lock
   * file.
   */
  service_changed: boolean;
  /** What visitors can no longer answer, with the affected answers. Null if the key may not change forms. */
  impact: DryRun['impact'] | null;
  problems: Judgement['problems'];
  warnings: Judgement['warnings'];
};

/** A plan with the ETag of the form that was compared. */
type Planned = { plan: FormPlan; form: FormFile; tag: string | undefined };

/** Returns all forms of the workspace, without their structures. */
export async function listAllForms(api: Api): Promise<ReplyOf<'listForms'>['data']> {
  const all: ReplyOf<'listForms'>['data'] = [];
  for (let cursor: string | null | undefined = '*'; cursor; ) {
    const page: ReplyOf<'listForms'> = await call(api, 'listForms', { query: { cursor, per_page: 100 } });
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}

/**
 * Compares each form of a folder with the service, without changing anything.
 * @throws UsageError if two files are the same form, or if several forms share a name.
 */
export async function planForms(api: Api, forms: readonly FormFile[], lock: FormLock): Promise<Planned[]> {
  const there = forms.every(({ id }) => id !== undefined) ? [] : await listAllForms(api);
  const planned: Planned[] = [];
  for (const form of forms) {
    const name = nameOf(form.structure);
    const named = there.filter((each) => each.name === name && each.status !== 'archived');
    if (form.id === undefined && named.length > 1)
      throw new UsageError(
        `${form.file}: ${named.length} forms are called "${name}". Set "id" to one of these: ${named.map(({ id }) => id).join(', ')}.`,
      );
    const id = form.id ?? named[0]?.id;
    const other = planned.find(({ plan }) => (id === undefined ? plan.name === name : plan.id === id));
    if (other) throw new UsageError(`${other.form.file} and ${form.file} are the same form, "${name}".`);
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
  { id, name, lock }: { id: string; name: string; lock: FormLock },
): Promise<Planned> {
  const { value, tag } = await api({ name: 'getForm', params: { id } });
  const now = value as ReplyOf<'getForm'>;
  const { structure, settings, status } = form;
  const changes = [
    ...compareStructures(now.structure, structure),
    ...(settings === undefined
      ? []
      : compareValues(now.settings as Record<string, unknown>, shownSettings(settings))),
    ...(status === undefined ? [] : compareValues({ status: now.status }, { status })),
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
    // A file that already has the service's change loses nothing.
    service_changed: !isSame && base !== undefined && base !== hashForm(now),
    ...tried,
  };
  return { plan, form: { ...form, id }, tag };
}

/** Checks a change with a dry run. A key that may not change forms can still validate them. */
async function tryChange(
  api: Api,
  form: FormFile,
  id: string,
): Promise<Pick<FormPlan, 'impact' | 'problems' | 'warnings'>> {
  try {
    const body = { ...documentOf(form), ...(form.status && { status: form.status }) };
    const { dry_run } = await call(api, 'updateForm', { params: { id }, query: { dry_run: true }, body });
    const { impact, problems, warnings } = dry_run!;
    return { impact, problems, warnings };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'forbidden') throw error;
    return { impact: null, ...(await judge(api, form)) };
  }
}

const judge = (api: Api, form: FormFile): Promise<ReplyOf<'validateForm'>> =>
  call(api, 'validateForm', { body: documentOf(form) });

const documentOf = ({ structure, settings }: FormFile) => ({ structure, ...(settings && { settings }) });

/** Returns settings as the API returns them: without the password and without nulls. */
const shownSettings = (settings: object): Record<string, unknown> => ({
  access: 'public',
  ...Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => name !== 'password' && value !== null),
  ),
});

/**
 * Applies a plan, if the form has not changed since it was compared.
 * @returns the id of the form.
 */
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
  const { id } = await call(api, 'createForm', {
    body: { ...documentOf(form), publish: status === 'published' },
  });
  if (status === 'archived') await call(api, 'archiveForm', { params: { id } });
  return id;
}
