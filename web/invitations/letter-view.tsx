import type { ReactElement } from 'react';
import type { LetterPreview } from './invitations-query.ts';

/** The mail as its first reader will see it, without its colours. */
export function LetterView({
  preview: { subject, letter },
  to,
}: {
  preview: LetterPreview;
  to: string;
}): ReactElement {
  return (
    <section className="invite-letter" aria-label="Preview of the mail">
      <p>
        <span className="soft small">To {to}</span>
        <br />
        <strong>{subject}</strong>
      </p>
      {letter.blocks.map((block, index) =>
        block.kind === 'button' ? (
          <span key={index} className="invite-letter-button">
            {block.label}
          </span>
        ) : block.kind === 'text' ? (
          <p key={index} className="invite-letter-text">
            {block.text}
          </p>
        ) : null,
      )}
      <p className="soft small">{letter.reason}</p>
    </section>
  );
}
