import type { Api, Form, SettingsChange, Submission } from './api.ts';
import type { DefinedForm } from './define-form.ts';
import { listOf } from './pages.ts';
import type { CallOptions, List } from './transport/call.ts';

/** Answers in requests. A file is given by its id, from `files.create`. */
export type Sent<Answers> = {
  [K in keyof Answers]: NonNullable<Answers[K]> extends { content_type: string }[] ? string[] : Answers[K];
};

/** A submission of a form. Required answers are present once it is completed. */
export type SubmissionOf<Answers> = Omit<Submission, 'status' | 'answers'> &
  ({ status: 'completed'; answers: Answers } | { status: 'incomplete'; answers: Partial<Answers> });

type Page = Awaited<ReturnType<Api['forms']['submissions']>>;
type Query = NonNullable<Parameters<Api['forms']['submissions']>[1]>;
/** The type of the submissions that match a query. */
type Asked<Answers, Q> = Extract<
  SubmissionOf<Answers>,
  Q extends { status: infer Status } ? { status: Status } : unknown
>;

/** A defined form on a service. */
export interface FormHandle<Answers> {
  /**
   * Returns the form's id on the service.
   * @throws Error if the form does not exist, or if several forms have its name.
   */
  id(): Promise<string>;
  /**
   * Updates the form on the service to match the definition. Creates the form, changes what differs, or does
   * nothing.
   * @throws ValidationError; PreconditionFailedError if another person changes the form in the meantime.
   */
  apply(): Promise<Form & { change: 'created' | 'updated' | 'none' }>;
  /** Submits answers, validated as on the form's page. */
  submit(
    answers: Sent<Answers>,
    options?: CallOptions & { reference?: Record<string, string> },
  ): Promise<SubmissionOf<Answers>>;
  /** Returns the form's submissions: all of them with `for await`, one page with `await`. */
  submissions<const Q extends Query>(
    query?: Q,
    options?: CallOptions,
  ): List<Omit<Page, 'data'> & { data: Asked<Answers, Q>[] }>;
}

/** @param form the result of defineForm. */
export function formHandle<Answers>(api: Api, form: DefinedForm<Answers>): FormHandle<Answers> {
  const { structure, settings, status } = form;
  let known = form.id;
  const find = async (): Promise<string | undefined> =>
    (known ??= await findByName(api, structure.attrs.name));
  const id = async (): Promise<string> => {
    const found = await find();
    if (found === undefined)
      throw new Error(`The form "${structure.attrs.name}" does not exist yet. Call apply() to create it.`);
    return found;
  };
  return {
    id,
    async apply() {
      const found = await find();
      if (found === undefined) {
        const made = await api.forms.create({
          structure,
          ...(settings && { settings }),
          publish: status === 'published',
        });
        known = made.id;
        if (status === 'archived') await api.forms.archive(made);
        return Object.assign(await api.forms.get(made), { change: 'created' as const });
      }
      const now = await api.forms.get(found);
      const isSame =
        isLike(now.structure, structure) &&
        (settings === undefined || isLike(now.settings, shown(settings))) &&
        (status === undefined || now.status === status);
      if (isSame) return Object.assign(now, { change: 'none' as const });
      const change = { structure, ...(settings && { settings }), ...(status && { status }) };
      // Sends the ETag of the form that was read, so that a concurrent change is not overwritten.
      return Object.assign(await api.forms.update(now, change), { change: 'updated' as const });
    },
    async submit(answers, { reference, ...options } = {}) {
      const input = { answers, ...(reference && { reference }) };
      return (await api.submissions.create(await id(), input, options)) as SubmissionOf<Answers>;
    },
    submissions: (query, options) => {
      const read = async (more: Query) => api.forms.submissions(await id(), { ...query, ...more }, options);
      // The types of the answers follow from the form, and the statuses of the submissions from the query.
      return listOf('cursor', query ?? {}, read) as never;
    },
  };
}

/** @throws Error if several forms have the name, so that only an id can identify one. */
async function findByName(api: Api, name: string): Promise<string | undefined> {
  const found: string[] = [];
  for await (const form of api.forms.list())
    if (form.name === name && form.status !== 'archived') found.push(form.id);
  if (found.length > 1)
    throw new Error(
      `${found.length} forms are called "${name}". Set the id in the definition to choose one.`,
    );
  return found[0];
}

/** Returns settings as the API returns them: without the password and without nulls. */
const shown = (settings: SettingsChange): object => ({
  access: 'public',
  ...Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => name !== 'password' && value !== null),
  ),
});

const isLike = (one: unknown, other: unknown): boolean =>
  JSON.stringify(plain(one)) === JSON.stringify(plain(other));

/** Sorts keys and removes empty optional parts of nodes, so that trees can be compared. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, part]) => [key, plain(part)] as const)
    .filter(([key, part]) => !(/^(attrs|children)$/.test(key) && Object.keys(part as object).length === 0));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
