import type { ReactNode } from 'react';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import type { Sentence } from '../../conditions/say-condition.ts';

/** The sentences of a node's logic as one simple value, so that a node is drawn again only when they change. */
export const packSentences = (sentences: readonly Sentence[]): string =>
  sentences.length === 0 ? '' : JSON.stringify(sentences);

const unpack = (packed: string): readonly Sentence[] => JSON.parse(packed) as Sentence[];

/** What decides whether the part is on the page, on the part itself (docs/rules.md B7). */
export function LogicBadge({ packed }: { packed: string }): ReactNode {
  return (
    <div className="logic-badge">
      {unpack(packed).map((sentence, index) => (
        <p key={index}>
          <SentenceText sentence={sentence} />
        </p>
      ))}
    </div>
  );
}

/** The same for an element whose inside is markup of the page. */
export function logicBadgeElement(packed: string): HTMLElement {
  const badge = document.createElement('div');
  badge.className = 'logic-badge';
  for (const sentence of unpack(packed)) {
    const line = document.createElement('p');
    for (const { text, isStrong } of sentence) {
      const word = document.createElement(isStrong ? 'em' : 'span');
      word.textContent = text;
      line.append(word);
    }
    badge.append(line);
  }
  return badge;
}
