import './recovery-codes.css';
import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { saveFile } from '../../design/save-file.ts';
import { useSession } from '../../shell/session.ts';

/** Recovery codes, shown this once. */
export function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose: () => void;
}): ReactElement {
  const { user } = useSession();
  const text = codes.join('\n');
  const file = `Recovery codes of ${user.email} for ${location.host}. Each signs in once.\n\n${text}\n`;
  return (
    <Dialog
      title="Keep your recovery codes"
      isOpen
      onClose={onClose}
      isDismissable={false}
      done="I have kept them"
    >
      <div className="stack">
        <Message tone="warn">They are shown only this once.</Message>
        <p>
          When your phone is lost, one of these takes the second step in its place. Each works once. Keep them
          where you find them without it: on paper, or in a password manager.
        </p>
        <ol className="recovery-codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <div className="row">
          <Button icon="download" onPress={() => saveFile('formloom-recovery-codes.txt', file, 'text/plain')}>
            Download
          </Button>
          <CopyButton text={text} />
        </div>
      </div>
    </Dialog>
  );
}
