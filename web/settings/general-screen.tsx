import './general-screen.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { longestStageName, mostStages, type StageColor, stageColors } from '#rules/columns.ts';
import { usePasswordAction } from '../account/password-dialog.tsx';
import { isConcurrentChangeError } from '../api/client.ts';
import { callOperation, callSessionOperation, download } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { Chip, StageChip } from '../design/chip.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { TextField } from '../design/field.tsx';
import { CardForm, FieldsForm } from '../design/form-dialog.tsx';
import { Card, SettingsPage } from '../design/page.tsx';
import { Select } from '../design/select.tsx';
import { Loading, QueryState } from '../design/states.tsx';
import { useFocusHandover } from '../design/use-focus-handover.ts';
import { mayAdminister } from '../shell/session.ts';
import { membersQuery, stagesQuery, useWorkspace, type WorkspaceDetail } from './workspace.ts';

/** Whether the workspace requires two-factor. Members without it are listed before it is turned on. */
function SecondFactorRule({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const isOn = workspace.second_factor_required;
  const change = useAction({
    run: () =>
      callOperation(
        workspace.id,
        'changeWorkspace',
        { body: { second_factor_required: !isOn } },
        { seen: workspace },
      ),
    confirm: isOn
      ? {
          title: 'Allow password only?',
          label: 'Allow password only',
          text: 'Members can then sign in with only their password. Two-factor that members have set up stays on.',
        }
      : {
          title: 'Require two-factor?',
          label: 'Require two-factor',
          text: <WhoLacksOne workspaceId={workspace.id} />,
          isDanger: false,
        },
    done: isOn ? 'Two-factor is no longer required.' : 'Two-factor is now required for all members.',
  });
  return (
    <Card
      title="Require two-factor authentication"
      lead="Members need an authenticator app or a passkey in addition to their password. API keys are not affected."
      actions={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? 'On' : 'Off'}</Chip>}
    >
      {workspace.role === 'owner' ? (
        <div className="row">
          <Button {...change.press()}>{isOn ? 'Allow password only' : 'Require two-factor'}</Button>
        </div>
      ) : (
        <p className="soft">Only owners can change this.</p>
      )}
      {change.dialog}
    </Card>
  );
}

function WhoLacksOne({ workspaceId }: { workspaceId: string }): ReactElement {
  const { data: members, error } = useQuery({ ...membersQuery(workspaceId), staleTime: 0 });
  if (error) return <p>Could not load the members without two-factor: {error.message}</p>;
  if (!members) return <Loading lines={2} />;
  const lacking = members.filter(({ second_factor }) => second_factor === false);
  if (lacking.length === 0) return <p>All members have two-factor set up.</p>;
  return (
    <div className="stack-tight">
      <p>
        {lacking.length === 1 ? 'One of them has' : `${lacking.length} of ${members.length} have`} not set up
        two-factor, and cannot open this workspace until they do:
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

/** The workspace's name, and its ID for the API. */
function WorkspaceNameForm({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const isReadOnly = !mayAdminister(workspace.role);
  const rename = useAction({
    run: (body: { name: string }) =>
      callOperation(workspace.id, 'changeWorkspace', { body }, { seen: workspace }),
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
      <CopyField label="Workspace ID" text={workspace.id} />
    </FieldsForm>
  );
}

/**
 * Deletes a workspace. Owners can download its audit log first, and can restore the workspace for seven days.
 */
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
        'Its forms, public pages, webhooks and API keys stop working immediately. In 7 days it is deleted with all its submissions and files. Until then an owner can restore it from their account.',
      label: 'Delete workspace',
      isDanger: true,
    }),
    run: (password) =>
      callSessionOperation('deleteWorkspace', { params: { id: workspace.id }, body: { password } }),
    done: () => `${workspace.name} is closed and will be deleted in 7 days.`,
    onDone: () => navigate({ to: '/account' }),
  });
  return (
    <div className="stack">
      <div className="row">
        <Button icon="download" {...save.press()}>
          Download audit log
        </Button>
        <Button variant="danger" onPress={() => remove.start()}>
          Delete workspace
        </Button>
      </div>
      {remove.dialog}
    </div>
  );
}

/** Ends the signed-in person's membership. */
function LeaveWorkspace({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const navigate = useNavigate();
  const leave = useAction({
    run: () => callSessionOperation('leaveWorkspace', { params: { id: workspace.id } }),
    confirm: {
      title: `Leave ${workspace.name}?`,
      label: 'Leave workspace',
      text: 'You will lose access to its forms and submissions, and your API keys will be revoked.',
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

/** General settings of a workspace: name, plan and limits, two-factor, leaving and deletion. */
export function GeneralScreen(): ReactElement {
  const workspace = useWorkspace();
  const count = (value: number): string => value.toLocaleString();
  return (
    <SettingsPage title="General" lead="The name, plan, security and deletion of this workspace.">
      <Card title="Workspace">
        <WorkspaceNameForm key={workspace.id} workspace={workspace} />
      </Card>
      <Card
        title="Plan"
        lead="Only the operator of this service can change the plan."
        actions={<Chip tone="info">{planNames[workspace.plan]}</Chip>}
      >
        <dl className="terms">
          <Term name="API requests per minute">{count(workspace.requests_per_minute)}</Term>
          <Term name="Burst limit">{count(workspace.burst)}</Term>
          <Term name="Signed webhooks">{workspace.signed_webhooks ? 'Included' : 'Pro plan and higher'}</Term>
          <Term name="Members">{count(workspace.member_count)}</Term>
        </dl>
      </Card>
      <StagesCard workspace={workspace} />
      <SecondFactorRule workspace={workspace} />
      <Card title="Leave this workspace" lead="Its forms are kept. An admin can invite you again.">
        <LeaveWorkspace workspace={workspace} />
      </Card>
      {workspace.role === 'owner' && (
        <Card
          title="Delete this workspace"
          lead="The workspace closes immediately and is deleted in 7 days. Until then an owner can restore it."
        >
          <DeleteWorkspace workspace={workspace} />
        </Card>
      )}
    </SettingsPage>
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

type Stages = ReplyOf<'listStages'>;
type Stage = Stages['data'][number];

const colorLabels = {
  gray: 'Gray',
  blue: 'Blue',
  green: 'Green',
  yellow: 'Yellow',
  red: 'Red',
} as const satisfies Record<StageColor, string>;
const colorChoices = stageColors.map((id) => ({ id, label: colorLabels[id] }));

/** The stages that submissions of the workspace go through. Admins can edit them. */
function StagesCard({ workspace }: { workspace: WorkspaceDetail }): ReactElement {
  const stages = useQuery(stagesQuery(workspace.id));
  return (
    <Card
      title="Stages"
      lead="Submissions begin in the first stage. Members move them to the others, and can assign each to a member."
    >
      <QueryState query={stages} lines={3} showsError>
        {(seen) =>
          mayAdminister(workspace.role) ? (
            <StagesForm workspaceId={workspace.id} seen={seen} />
          ) : (
            <div className="row">
              {seen.data.map((stage) => (
                <StageChip key={stage.id} stage={stage} />
              ))}
            </div>
          )
        }
      </QueryState>
    </Card>
  );
}

function StagesForm({ workspaceId, seen }: { workspaceId: string; seen: Stages }): ReactElement {
  // An edit is based on the stages at its begin, unless another person's change has been reported since.
  const [edit, setEdit] = useState<{ base: Stages | undefined; drafts: readonly Stage[] }>();
  const drafts = edit?.drafts ?? seen.data;
  const setDrafts = (changed: readonly Stage[]): void =>
    setEdit({ base: edit?.base ?? seen, drafts: changed });
  const list = useRef<HTMLOListElement>(null);
  const handOver = useFocusHandover();
  const save = useAction({
    run: () =>
      callOperation(
        workspaceId,
        'changeStages',
        { body: { data: [...drafts] } },
        { seen: edit?.base ?? seen },
      ),
    done: 'The stages were saved.',
    onDone: () => setEdit(undefined),
    onProblem: (error) => isConcurrentChangeError(error) && setEdit({ base: undefined, drafts }),
  });
  const change = (index: number, part: Partial<Stage>): void =>
    setDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...part } : draft)));
  const move = (index: number, to: number): void =>
    setDrafts(drafts.toSpliced(index, 1).toSpliced(to, 0, drafts[index]!));
  const focusOn = (index: number): void =>
    handOver(() => list.current?.querySelectorAll<HTMLElement>('input.field-input')[index]);
  const isDeleting = seen.data.some(({ id }) => !drafts.some((draft) => draft.id === id));
  return (
    <CardForm label="Save stages" action={save} onSubmit={() => save.mutate()}>
      <ol ref={list} className="stages" aria-label="Stages in order">
        {drafts.map(({ id, name, color }, index) => {
          const title = name.trim() || `stage ${index + 1}`;
          return (
            <li key={id} className="stages-line">
              <TextField
                label={<span className="unseen">Name of stage {index + 1}</span>}
                value={name}
                onChange={(changed) => change(index, { name: changed })}
                error={save.of(`data.${index}.name`)}
                maxLength={longestStageName}
              />
              <Select<StageColor>
                label={`Color of ${title}`}
                isLabelHidden
                choices={colorChoices}
                value={color}
                onChange={(changed) => change(index, { color: changed })}
              />
              <span className="stages-buttons">
                <IconButton
                  icon="chevron-up"
                  size="small"
                  label={`Move ${title} up`}
                  isDisabled={index === 0}
                  onPress={() => move(index, index - 1)}
                />
                <IconButton
                  icon="chevron-down"
                  size="small"
                  label={`Move ${title} down`}
                  isDisabled={index === drafts.length - 1}
                  onPress={() => move(index, index + 1)}
                />
                <IconButton
                  icon="remove"
                  size="small"
                  label={`Delete ${title}`}
                  isDisabled={drafts.length === 1}
                  onPress={() => {
                    focusOn(Math.max(0, index - 1));
                    setDrafts(drafts.toSpliced(index, 1));
                  }}
                />
              </span>
            </li>
          );
        })}
      </ol>
      {isDeleting && (
        <p className="soft small" role="status">
          Submissions in a deleted stage go to the first stage.
        </p>
      )}
      {drafts[0]!.id !== seen.data[0]!.id && (
        <p className="soft small" role="status">
          Submissions that were never moved go to the new first stage.
        </p>
      )}
      {drafts.length < mostStages && (
        <div className="row">
          <Button
            size="small"
            icon="add"
            onPress={() => {
              focusOn(drafts.length);
              const id = Math.random().toString(36).slice(2);
              setDrafts([...drafts, { id, name: '', color: 'gray' }]);
            }}
          >
            Add stage
          </Button>
        </div>
      )}
    </CardForm>
  );
}
