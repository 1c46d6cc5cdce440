import { type ReactElement, useState } from 'react';
import type { Key } from '#workspaces/keys/shapes.ts';
import { IconButton } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import { KeyRequestsDialog } from './key-requests-dialog.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

type Doing = 'edit' | 'rotate' | 'requests' | 'revoke';

/** Everything that is done with one key. What ended can only be looked at. */
export function KeyActions({
  workspaceId,
  apiKey,
  isActive,
}: {
  workspaceId: string;
  apiKey: Key;
  isActive: boolean;
}): ReactElement {
  const [doing, setDoing] = useState<Doing>();
  const props = { workspaceId, apiKey, onClose: () => setDoing(undefined) };
  const changes = [
    { id: 'edit', label: 'Change', icon: 'edit', onAction: () => setDoing('edit') },
    { id: 'rotate', label: 'Rotate', icon: 'refresh', onAction: () => setDoing('rotate') },
  ] as const;
  const end = [
    { id: 'end', separator: true },
    { id: 'revoke', label: 'Revoke', icon: 'remove', isDanger: true, onAction: () => setDoing('revoke') },
  ] as const;
  return (
    <>
      <Menu
        items={[
          ...(isActive ? changes : []),
          {
            id: 'requests',
            label: 'Recent requests',
            icon: 'history',
            onAction: () => setDoing('requests'),
          },
          ...(apiKey.revoked_at ? [] : end),
        ]}
      >
        <IconButton icon="more" size="small" label={`Actions for ${apiKey.name}`} />
      </Menu>
      {doing === 'edit' && <EditKeyDialog {...props} />}
      {doing === 'rotate' && <RotateKeyDialog {...props} />}
      {doing === 'requests' && <KeyRequestsDialog {...props} />}
      {doing === 'revoke' && <RevokeKey {...props} />}
    </>
  );
}
