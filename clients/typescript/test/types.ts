/* What the client's types say. test/client.test.ts compiles it against the package as it is installed. */
import {
  type AnswersOf,
  createClient,
  defineForm,
  type Error as ErrorBody,
  type FileUpload,
  type Form,
  type FormloomError,
  verifyWebhook,
} from '@formloom/client';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type WithAnyCode = { message: string; code: string; field?: string; path?: number[] };
type Item = NonNullable<ErrorBody['errors']>[number];
/** transport/errors.ts repeats the body of an error by hand, with any text as the code of an item. */
export const sameError: Same<
  Pick<FormloomError, 'code' | 'errors'>,
  { readonly code: ErrorBody['error'] | 'unknown'; readonly errors: WithAnyCode[] }
> = true;
export const everyItem: FormloomError['errors'] = [] as Item[];
const form = defineForm({
  name: 'All',
  settings: { access: 'closed', embed_origins: ['https://a.example'] },
  steps: [
    {
      title: 'One',
      elements: [
        { type: 'text', id: 'a', label: 'A', required: true },
        {
          type: 'textarea',
          id: 'b',
          label: 'B',
          required: true,
          show_when: { element: 'a', is: 'answered' },
        },
        { type: 'dropdown', id: 'c', label: 'C', options: ['x', { id: 'y', label: 'Y!' }], required: true },
        { type: 'multiple_choice', id: 'd', label: 'D', options: ['x'], other: true },
        { type: 'yes_no', id: 'e', label: 'E' },
        { type: 'heading', label: 'H' },
        { type: 'file_upload', id: 'f', label: 'F' },
        {
          type: 'composite',
          id: 'g',
          label: 'G',
          children: [{ type: 'number', id: 'h', label: 'H', required: true }],
        },
        {
          type: 'composite',
          id: 'r',
          label: 'R',
          repeatable: true,
          children: [
            { type: 'date', id: 'i', label: 'I', required: true },
            { type: 'time', id: 't', label: 'T' },
          ],
        },
      ],
    },
    {
      show_when: { reference: 'x', is: 'answered' },
      elements: [{ type: 'email', id: 'm', label: 'M', required: true }],
    },
  ],
});
type A = AnswersOf<typeof form>;
export const same: Same<
  A,
  {
    a: string;
    c: 'x' | 'y';
    h: number;
    b?: string;
    d?: ('x' | (string & {}))[];
    e?: boolean;
    f?: FileUpload[];
    r?: { i: string; t?: string }[];
    m?: string;
  }
> = true;
const jumps = defineForm({
  name: 'J',
  steps: [
    { id: 's', jumps: [{ to: 'end' }], elements: [{ type: 'text', id: 'a', label: 'A', required: true }] },
  ],
});
export const jumped: Same<AnswersOf<typeof jumps>, { a?: string }> = true;
const client = createClient({ url: '', key: '' });
const handle = client.form(form);
export async function use(raw: string, headers: Headers): Promise<void> {
  for await (const one of handle.submissions())
    if (one.status === 'completed') one.answers.c satisfies 'x' | 'y';
    else one.answers.c satisfies 'x' | 'y' | undefined;
  for await (const one of handle.submissions({
    status: 'completed',
    where: { element: 'a', is: 'answered' },
  }))
    one.answers.h.toFixed();
  const page = await handle.submissions({ status: 'incomplete' });
  page.data[0]!.answers.a satisfies string | undefined;
  await handle.submit({ a: 'x', c: 'x', h: 1, f: ['id'] });
  const read: Form = await client.forms.get('x');
  await client.forms.update(read, { structure: form.structure });
  await client.draft.save(await client.draft.get(read), { structure: form.structure });
  const hook = await client.webhooks.get('x');
  await client.webhooks.change(hook, { active: false });
  const { submission } = await verifyWebhook<A>(raw, headers, 's');
  submission.responses.a.slice();
  submission.file_uploads['f']?.[0]?.url.slice();
  // @ts-expect-error files of an event stand beside its answers
  submission.responses.f;
  const csv: Response = await client.forms.exportSubmissions(read, { format: 'csv' });
  csv.body?.cancel();
  // @ts-expect-error an element that there is none of
  defineForm({ name: 'x', steps: [{ elements: [{ type: 'nonsense', id: 'a', label: 'A' }] }] });
  // @ts-expect-error a selection without options
  defineForm({ name: 'x', steps: [{ elements: [{ type: 'radio', id: 'a', label: 'A' }] }] });
  // @ts-expect-error a setting that there is none of
  defineForm({ name: 'x', settings: { colour: 'red' }, steps: [] });
  // @ts-expect-error an answer that is no number
  await handle.submit({ a: 'x', c: 'x', h: '1' });
}
