import './general-screen.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { usePasswordAction } from '../account/password-dialog.tsx';
import { call, callOwn, download } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Chip } from '../design/chip.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { FieldsForm } from '../design/fields.tsx';
import { Card, Page } from '../design/page.tsx';
import { Loading } from '../design/states.tsx';
import { mayAdminister } from '../shell/session.ts';
import { membersQuery, useWorkspace, type WorkspaceDetail } from './workspace.ts';

/** Whether the workspace asks a second factor of its members; who lacks one is said before it is switched on. */
function SecondFactorRule({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const isOn = workspace.second_factor_required;
  const change = useAction({
    run: () =>
      call(workspace.id, 'changeWorkspace', { body: { second_factor_required: !isOn } }, { seen: workspace }),
    confirm: isOn
      ? {
          title: 'Let a password be enough?',
          label: 'Let a password be enough',
          text: 'Whoever learns the password of a member gets in with it. Second factors that are set up are asked for as before.',
        }
      : {
          title: 'Ask everybody for a second step?',
          label: 'Ask for it',
          text: <WhoLacksOne workspaceId={workspace.id} />,
          isDanger: false,
        },
    done: isOn ? 'A password is enough again.' : 'Everybody signs in in two steps from now on.',
  });
  return (
    <Card
      title="Second step for everybody"
      lead="Members get in only with an authenticator app or a passkey beside their password. API keys work as before."
      actions={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Chip>}
    >
      {workspace.role === 'owner' ? (
        <div className="row">
          <Button {...change.press()}>
            {isOn ? 'Let a password be enough' : 'Ask everybody for a second step'}
          </Button>
        </div>
      ) : (
        <p className="soft">Owners decide about it.</p>
      )}
      {change.dialog}
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
function WorkspaceNameForm({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const isReadOnly = !mayAdminister(workspace.role);
  const rename = useAction({
    run: (body: { name: string }) => call(workspace.id, 'changeWorkspace', { body }, { seen: workspace }),
    done: 'The workspace was renamed.',
  });
  return (
    <FieldsForm
      label={isReadOnly ? undefined : 'Save name'}
      action={rename}
      begin={{ name: workspace.name }}
      fields={{
        name: {
          label: 'Name',
          isDisabled: isReadOnly,
          description: isReadOnly && 'Admins can change it.',
          autoComplete: 'organization',
        },
      }}
    >
      <CopyField label="Workspace id" text={workspace.id} />
    </FieldsForm>
  );
}

/** The end of a workspace, for its owners: its log can be downloaded, and for seven days the workspace can be restored. */
function DeleteWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const navigate = useNavigate();
  const save = useAction({
    run: () => download(workspace.id, 'exportAuditLog', { query: {} }),
    problem: 'toast',
  });
  const remove = usePasswordAction({
    ask: () => ({
      title: `Delete ${workspace.name}?`,
      description:
        'Its forms, pages, webhooks and API keys stop at once, for everybody. In 7 days all of it is gone, with every submission and file; until then an owner can bring it back from their account.',
      label: 'Delete the workspace',
      isDanger: true,
    }),
    run: (password) => callOwn('deleteWorkspace', { params: { id: workspace.id }, body: { password } }),
    done: () => `${workspace.name} is closed, and gone in 7 days.`,
    onDone: () => navigate({ to: '/account' }),
  });
  return (
    <div className="stack">
      <div className="row">
        <Button icon="download" {...save.press()}>
          Download the activity
        </Button>
        <Button variant="danger" onPress={() => remove.start()}>
          Delete workspace
        </Button>
      </div>
      {remove.dialog}
    </div>
  );
}

/** Ends the person's own membership. */
function LeaveWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const navigate = useNavigate();
  const leave = useAction({
    run: () => callOwn('leaveWorkspace', { params: { id: workspace.id } }),
    confirm: {
      title: `Leave ${workspace.name}?`,
      label: 'Leave workspace',
      text: 'You will not see its forms and submissions any more, and the API keys that you made are revoked.',
    },
    onDone: () => navigate({ to: '/' }),
  });
  return (
    <div className="row">
      <Button {...leave.press()}>Leave workspace</Button>
      {leave.dialog}
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
        <WorkspaceNameForm key={workspace.id} workspace={workspace} />
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
