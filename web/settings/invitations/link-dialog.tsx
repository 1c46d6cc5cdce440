import type { ReactElement } from 'react';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';

/** The link of an invitation, where no mail is sent: it is handed over by hand. */
export function LinkDialog({
  email,
  link,
  onClose,
}: {
  email: string;
  link: string;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog title="Hand over the link" isOpen onClose={onClose} size="medium" done="Done">
      <p>
        This server sends no mail. Give <strong>{email}</strong> this link in a safe way: whoever has it can
        join in their place. It works once, for 7 days.
      </p>
      <CopyField label="Link of the invitation" text={link} />
    </Dialog>
  );
}
