import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { Card } from '../design/page.tsx';
import { Loading } from '../design/states.tsx';
import { toastDone } from '../design/toast.tsx';
import { refreshSession } from '../shell/session.ts';
import { membersQuery, type WorkspaceDetail, workspaceQuery } from './workspace.ts';

/** Whether the workspace asks a second factor of its members; who lacks one is said before it is switched on. */
export function SecondFactorRule({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const isOn = workspace.second_factor_required;
  const change = useMutation({
    mutationFn: () =>
      call(workspace.id, 'changeWorkspace', { body: { second_factor_required: !isOn } }, { seen: workspace }),
    async onSuccess() {
      await Promise.all([queryClient.invalidateQueries(workspaceQuery(workspace.id)), refreshSession()]);
      setAsking(false);
      toastDone(isOn ? 'A password is enough again.' : 'Everybody signs in in two steps from now on.');
    },
  });
  return (
    <Card
      title="Second step for everybody"
      lead="Members get in only with an authenticator app or a passkey beside their password. API keys work as before."
      actions={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Chip>}
    >
      {workspace.role === 'owner' ? (
        <div className="row">
          <Button onPress={() => setAsking(true)}>
            {isOn ? 'Let a password be enough' : 'Ask everybody for a second step'}
          </Button>
        </div>
      ) : (
        <p className="soft">Owners decide about it.</p>
      )}
      <ConfirmChange
        title={isOn ? 'Let a password be enough?' : 'Ask everybody for a second step?'}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel={isOn ? 'Let a password be enough' : 'Ask for it'}
        isDanger={isOn}
        change={change}
      >
        {isOn ? (
          'Whoever learns the password of a member gets in with it. Second factors that are set up are asked for as before.'
        ) : (
          <WhoLacksOne workspaceId={workspace.id} />
        )}
      </ConfirmChange>
    </Card>
  );
}

function WhoLacksOne({ workspaceId }: { workspaceId: string }): ReactElement {
  const { data: members, error } = useQuery({ ...membersQuery(workspaceId), staleTime: 0 });
  if (error) return <p>Who lacks one could not be read: {error.message}</p>;
  if (!members) return <Loading lines={2} />;
  const lacking = members.filter(({ second_factor }) => second_factor === false);
  if (lacking.length === 0) return <p>Every member has one.</p>;
  return (
    <div className="stack-tight">
      <p>
        {lacking.length === 1 ? 'One of them has' : `${lacking.length} of ${members.length} have`} none yet,
        and cannot go on here before they have set one up:
      </p>
      <ul className="lacking">
        {lacking.map(({ id, name, email }) => (
          <li key={id}>
            {name} <span className="soft small">{email}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
