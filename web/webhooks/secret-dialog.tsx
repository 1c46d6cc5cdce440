import type { ReactElement } from 'react';
import { Button } from '../design/button.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Message } from '../design/message.tsx';
import { VerifySnippets } from './verify-snippets.tsx';

/** Shows a secret for the one time that it can be shown, and what a receiver does with it. */
export function SecretDialog({
  secret,
  isOpen,
  onClose,
}: {
  secret: string;
  isOpen: boolean;
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="The secret of your webhook"
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      isDismissable={false}
      actions={
        <Button variant="primary" onPress={onClose}>
          I have stored it
        </Button>
      }
    >
      <Message tone="warn">Give it to your receiver now. It is not shown again.</Message>
      <div className="secret-fields">
        <CopyField label="Secret" text={secret} />
      </div>
      <VerifySnippets />
    </Dialog>
  );
}

/** The same help without the secret, for later. */
export function VerifyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement {
  return (
    <Dialog
      title="Verify deliveries"
      description="A receiver recomputes the signature over the raw body with the webhook’s secret, and refuses what does not match."
      size="medium"
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <Button variant="primary" onPress={onClose}>
          Done
        </Button>
      }
    >
      <VerifySnippets />
    </Dialog>
  );
}
