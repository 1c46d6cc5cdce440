import type { ReactElement } from 'react';
import type { NewKey } from '#workspaces/keys/shapes.ts';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';

/** A command that works with a key of these permissions (undefined: all of them): reading where it may read. */
function exampleCommand(apiKey: string, permissions: NewKey['permissions']): string {
  const may = (permission: NonNullable<NewKey['permissions']>[number]): boolean =>
    permissions === undefined || permissions.includes(permission);
  const base = `${window.location.origin}/api/v1`;
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  if (may('forms:read')) return `curl ${base}/forms \\\n  ${authorization}`;
  if (may('submissions:read')) return `curl "${base}/submissions/search?q=hello" \\\n  ${authorization}`;
  const form = {
    type: 'form',
    attrs: { name: 'Hello' },
    children: [{ type: 'step', attrs: {}, children: [] }],
  };
  return [
    `curl ${base}/forms`,
    authorization,
    '-H "Content-Type: application/json"',
    `-d '${JSON.stringify({ structure: form })}'`,
  ].join(' \\\n  ');
}

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
