import { formatCount } from '#ast/basics/format-number.ts';

/** The services that webhooks send a message to. */
export const chatFormats = ['slack', 'discord', 'teams', 'telegram'] as const;
export type ChatFormat = (typeof chatFormats)[number];

type LabelledAnswer = { label: string; text: string };

export type ChatMessage = {
  headline: string;
  answers: readonly LabelledAnswer[];
  /** The address of the submission in the console; empty if it was deleted. */
  link: string;
  /** The URL of the webhook, for the parameters that the service reads from it. */
  url: string;
};

/** Cuts a text to a number of characters after escaping, between two characters. */
function cutTo(text: string, most: number, escape = (character: string): string => character): string {
  let cut = '';
  for (const character of text) {
    const next = cut + escape(character);
    if (next.length >= most) return `${cut}…`;
    cut = next;
  }
  return cut;
}

/** The limits of a service, in characters after escaping. */
type Limits = { answers: number; label: number; text: number; total: number };

/** Returns the answers that fit, and the text of the link. */
function fitAnswers(
  answers: readonly LabelledAnswer[],
  most: Limits,
  escape?: (character: string) => string,
): { shown: LabelledAnswer[]; linkText: string } {
  const shown: LabelledAnswer[] = [];
  let left = most.total;
  for (const answer of answers.slice(0, most.answers)) {
    const label = cutTo(answer.label, most.label, escape);
    const text = cutTo(answer.text, most.text, escape);
    // Ten for line breaks and the marks of a bold label.
    left -= label.length + text.length + 10;
    if (left < 0) break;
    shown.push({ label, text });
  }
  const more = answers.length - shown.length;
  return { shown, linkText: `View submission${more > 0 ? ` (${formatCount(more, 'more answer')})` : ''}` };
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeSlack = (character: string): string => slackEntities[character] ?? character;
const slackText = (text: string) => ({ type: 'plain_text', text, emoji: false });

/** A backslash before each character that can begin markup, a mention, an emoji or a link. */
const escapeDiscord = (character: string): string =>
  /[\\`*_~|<>#:[\]]/.test(character) ? `\\${character}` : character;

/**
 * Returns the JSON of each service's message. Answers come from visitors, so they must not become mentions, links or
 * markup.
 */
export const chatMessages: Readonly<Record<ChatFormat, (message: ChatMessage) => object>> = {
  // In plain_text, Slack processes no markup and makes no links. The entities stop mentions such as <!channel>.
  slack({ headline, answers, link }) {
    const most = { answers: 45, label: 150, text: 2_000, total: 30_000 };
    const { shown, linkText } = fitAnswers(answers, most, escapeSlack);
    const linked = { type: 'mrkdwn', text: `<${link}|${linkText}>` };
    return {
      text: cutTo(headline, 3_000, escapeSlack),
      unfurl_links: false,
      blocks: [
        { type: 'header', text: slackText(cutTo(headline, 150, escapeSlack)) },
        ...shown.map(({ label, text }) => ({ type: 'section', fields: [label, text].map(slackText) })),
        ...(link ? [{ type: 'section', text: linked }] : []),
      ],
    };
  },

  discord({ headline, answers, link }) {
    const most = { answers: 25, label: 256, text: 1_024, total: 3_500 };
    const { shown, linkText } = fitAnswers(answers, most, escapeDiscord);
    const parts = [
      ...shown.map(({ label, text }) => `**${label}**\n${text}`),
      ...(link ? [`[${linkText}](${link})`] : []),
    ];
    return {
      content: cutTo(headline, 2_000, escapeDiscord),
      ...(parts.length > 0 && { embeds: [{ description: parts.join('\n') }] }),
      allowed_mentions: { parse: [] },
    };
  },

  // A TextRun has no Markdown, unlike a TextBlock or a fact. Teams accepts messages up to 28 KB.
  teams({ headline, answers, link }) {
    const most = { answers: 40, label: 256, text: 2_000, total: 6_000 };
    const { shown, linkText } = fitAnswers(answers, most);
    const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more });
    const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        block(run(cutTo(headline, 1_000), { size: 'Large', weight: 'Bolder' })),
        ...shown.map(({ label, text }) => block(run(`${label}: `, { weight: 'Bolder' }), run(text))),
      ],
      ...(link && { actions: [{ type: 'Action.OpenUrl', title: linkText, url: link }] }),
    };
    return {
      type: 'message',
      attachments: [
        { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card },
      ],
    };
  },

  // Telegram finds links and mentions in every text, except inside an entity of the type `pre`.
  telegram({ headline, answers, link, url }) {
    const most = { answers: 100, label: 256, text: 1_500, total: 3_000 };
    const { shown, linkText } = fitAnswers(answers, most);
    const quoted = shown.map(({ label, text }) => `${label}: ${text}`).join('\n');
    const begin = `${cutTo(headline, 500)}\n\n`;
    return {
      chat_id: readChatId(url),
      text: `${begin}${quoted}${link && `\n\n${linkText}: ${link}`}`.trimEnd(),
      entities: quoted === '' ? [] : [{ type: 'pre', offset: begin.length, length: quoted.length }],
      link_preview_options: { is_disabled: true },
    };
  },
};

/** Returns the chat of a Telegram URL: `https://api.telegram.org/bot<token>/sendMessage?chat_id=-100123`. */
export const readChatId = (url: string): string | null =>
  URL.parse(url)?.searchParams.get('chat_id')?.trim() || null;
