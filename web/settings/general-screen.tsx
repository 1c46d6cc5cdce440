import './general-screen.css';
import { type ReactElement, type ReactNode, useState } from 'react';
import { membersQuery, useWorkspace, type WorkspaceDetail, workspaceQuery } from './workspace.ts';
import { Chip } from '../design/chip.tsx';
import { Card, Page } from '../design/page.tsx';
import { mayAdminister, refreshSession } from '../shell/session.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call, callOwn, download } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { PasswordDialog } from '../account/second-factor/password-dialog.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { ApiProblem, isStale, unlocatedProblem } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { CardForm } from '../design/card-form.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { TextField } from '../design/field.tsx';
import { Loading } from '../design/states.tsx';

/** Whether the workspace asks a second factor of its members; who lacks one is said before it is switched on. */
function SecondFactorRule({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
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

/** The workspace's name, and its id for those who work with the API. */
function WorkspaceNameForm({
  workspace,
  isReadOnly,
}: {
  workspace: WorkspaceDetail;
  isReadOnly: boolean;
}): ReactElement {
  const [name, setName] = useState(workspace.name);
  const save = useMutation({
    mutationFn: () => call(workspace.id, 'changeWorkspace', { body: { name } }, { seen: workspace }),
    async onSuccess() {
      await Promise.all([refreshSession(), queryClient.invalidateQueries(workspaceQuery(workspace.id))]);
      toastDone('The workspace was renamed.');
    },
  });
  const problem = save.error instanceof ApiProblem ? save.error.of('name') : undefined;
  return (
    <CardForm
      label={isReadOnly ? undefined : 'Save name'}
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={problem}
        isDisabled={isReadOnly}
        description={sayBeside(workspace, isReadOnly, isStale(save.error))}
        autoComplete="organization"
      />
      <CopyField label="Workspace id" text={workspace.id} />
    </CardForm>
  );
}

function sayBeside({ name }: WorkspaceDetail, isReadOnly: boolean, isOther: boolean): string | undefined {
  if (isOther) return `It is called “${name}” now.`;
  return isReadOnly ? 'Admins can change it.' : undefined;
}

/** The end of a workspace, for its owners: what is in it can be taken along, and for seven days it can be brought back. */
function DeleteWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (password: string) =>
      callOwn('deleteWorkspace', { params: { id: workspace.id }, body: { password } }),
    async onSuccess() {
      await refreshSession();
      await navigate({ to: '/account' });
      toastDone(`${workspace.name} is closed, and gone in 7 days.`);
    },
  });
  const close = (): void => {
    setAsking(false);
    remove.reset();
  };
  const save = (begun: Promise<void>): void => void begun.catch(toastProblem);
  return (
    <div className="stack">
      <div className="row">
        <Button icon="download" onPress={() => save(download(workspace.id, 'exportAuditLog', { query: {} }))}>
          Download the activity
        </Button>
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete workspace
        </Button>
      </div>
      {isAsking && (
        <PasswordDialog
          title={`Delete ${workspace.name}?`}
          description="Its forms, pages, webhooks and API keys stop at once, for everybody. In 7 days all of it is gone, with every submission and file; until then an owner can bring it back from their account."
          submitLabel="Delete the workspace"
          isDanger
          asked={remove}
          onClose={close}
        />
      )}
    </div>
  );
}

/** Ends the person's own membership. */
function LeaveWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: () => callOwn('leaveWorkspace', { params: { id: workspace.id } }),
    async onSuccess() {
      await refreshSession();
      await navigate({ to: '/' });
    },
  });
  return (
    <div className="row">
      <Button onPress={() => setAsking(true)}>Leave workspace</Button>
      <ConfirmChange
        title={`Leave ${workspace.name}?`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel="Leave workspace"
        change={leave}
      >
        You will not see its forms and submissions any more, and the API keys that you made are revoked.
      </ConfirmChange>
    </div>
  );
}

const planNames = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
} as const satisfies Record<WorkspaceDetail['plan'], string>;

/** A workspace's name, its plan with what it allows, all of it as a file, and the way out. */
export function GeneralScreen(): ReactElement {
  const workspace = useWorkspace();
  const count = (value: number): string => value.toLocaleString();
  return (
    <Page title="General" width="narrow">
      <Card title="Workspace">
        <WorkspaceNameForm
          key={workspace.id}
          workspace={workspace}
          isReadOnly={!mayAdminister(workspace.role)}
        />
      </Card>
      <Card
        title="Plan"
        lead="Whoever runs this service changes the plan."
        actions={<Chip tone="info">{planNames[workspace.plan]}</Chip>}
      >
        <dl className="terms">
          <Term name="API requests per minute">{count(workspace.requests_per_minute)}</Term>
          <Term name="More in a burst">{count(workspace.burst)}</Term>
          <Term name="Signed webhooks">{workspace.signed_webhooks ? 'Included' : 'From the Pro plan'}</Term>
          <Term name="Members">{count(workspace.member_count)}</Term>
        </dl>
      </Card>
      <SecondFactorRule workspace={workspace} />
      <Card title="Leave this workspace" lead="Its forms stay. An admin can add you again.">
        <LeaveWorkspace workspace={workspace} />
      </Card>
      {workspace.role === 'owner' && (
        <Card
          title="Delete this workspace"
          lead="Everything in it is closed at once and gone in 7 days. Until then an owner can bring it back."
        >
          <DeleteWorkspace workspace={workspace} />
        </Card>
      )}
    </Page>
  );
}

function Term({ name, children }: { name: string; children: ReactNode }): ReactElement {
  return (
    <div className="term">
      <dt>{name}</dt>
      <dd className="numeric">{children}</dd>
    </div>
  );
}
