import './conditions.css';
import type { ReactNode } from 'react';
import type { Sentence } from './say-condition.ts';

/** A sentence with what the author wrote in it made strong. */
export function SentenceText({ sentence }: { sentence: Sentence }): ReactNode {
  return sentence.map(({ text, isStrong }, index) =>
    // A sentence is drawn anew as a whole: the place is the identity.
    isStrong ? (
      <em key={index} className="asked-strong">
        {text}
      </em>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}
