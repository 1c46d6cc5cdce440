const texts = import.meta.glob<string>('../../docs/guides/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** The guides in the order in which one needs them; each begins with its title. */
const order = [
  'first-form',
  'submissions',
  'search',
  'webhooks',
  'importing',
  'forms-as-code',
  'errors',
  'limits',
  'idempotency-and-concurrency',
  'permissions',
];

/** Where the guides' examples find a service that was just started. */
const exampleOrigin = 'http://127.0.0.1:3000';

/** The guides as one text, whose links to each other lead within the page, and whose examples call this service. */
export function writeGuides(origin: string): string {
  const guides = order.map((name) => texts[`../../docs/guides/${name}.md`]!);
  return guides
    .join('\n\n')
    .replaceAll(exampleOrigin, origin)
    .replaceAll(/\]\((\w[\w-]*)\.md(#[\w-]+)?\)/g, (_match, name: string) => `](#description/${name})`);
}
