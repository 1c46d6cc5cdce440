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
  'errors',
  'limits',
  'idempotency-and-concurrency',
  'permissions',
];

/** The guides as one text, whose links to each other lead within the page. */
export function writeGuides(): string {
  const guides = order.map((name) => texts[`../../docs/guides/${name}.md`]!);
  return guides
    .join('\n\n')
    .replaceAll(/\]\((\w[\w-]*)\.md(#[\w-]+)?\)/g, (_match, name: string) => `](#description/${name})`);
}
