import './conditions.css';
import type { ReactNode } from 'react';
import { PipedText } from '../design/piped-text.tsx';
import type { Sentence } from './describe-condition.ts';

/** Renders a sentence with the author's text highlighted. */
export function SentenceText({ sentence }: { sentence: Sentence }): ReactNode {
  return sentence.map(({ text, isStrong }, index) =>
    // Pieces are keyed by index, because a sentence is always rendered as a whole.
    isStrong ? (
      <em key={index} className="asked-strong">
        <PipedText text={text} />
      </em>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}
