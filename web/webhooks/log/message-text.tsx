import type { ReactElement } from 'react';
import { CopyButton } from '../../design/copy-button.tsx';
import { layOut } from './delivery-words.ts';

type Props = {
  label: string;
  /** As it was sent or received: this is what is copied. Shown with line breaks when it is JSON. */
  text: string;
};

/** A body or the headers of a request or response, as text and nothing else. */
export function MessageText({ label, text }: Props): ReactElement {
  return (
    <div className="message-part">
      <div className="spread">
        <h4 className="message-part-title">{label}</h4>
        {text !== '' && <CopyButton text={text} size="small" variant="quiet" />}
      </div>
      {text === '' ? (
        <p className="soft small">Empty</p>
      ) : (
        <pre className="message-part-text" tabIndex={0} aria-label={label}>
          {layOut(text)}
        </pre>
      )}
    </div>
  );
}
