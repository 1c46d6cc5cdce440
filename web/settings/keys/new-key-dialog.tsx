import type { ReactElement } from 'react';
import type { NewKey } from '#workspaces/keys/shapes.ts';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { exampleCommand } from './key-example.ts';

/** Shows a key for the one time that it can be shown, and how to use it. */
export function NewKeyDialog({
  name,
  apiKey,
  permissions,
  isOpen,
  onClose,
}: {
  name: string;
  apiKey: string;
  permissions: NewKey['permissions'];
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title={`Your key “${name}”`}
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      isDismissable={false}
      done="I have stored it"
    >
      <Message tone="warn">Store it in a safe place now. It is not shown again.</Message>
      <CopyField label="API key" text={apiKey} />
      <CopyField label="Try it" text={exampleCommand(apiKey, permissions)} isMultiline />
    </Dialog>
  );
}
