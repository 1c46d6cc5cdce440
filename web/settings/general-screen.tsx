import './general-screen.css';
import type { ReactElement, ReactNode } from 'react';
import type { WorkspaceDetail } from './workspace.ts';
import { Chip } from '../design/chip.tsx';
import { Card, Page } from '../design/page.tsx';
import { mayAdminister } from '../shell/session.ts';
import { DeleteWorkspace } from './delete-workspace.tsx';
import { LeaveWorkspace } from './leave-workspace.tsx';
import { SecondFactorRule } from './second-factor-rule.tsx';
import { useWorkspace } from './workspace.ts';
import { WorkspaceNameForm } from './workspace-name-form.tsx';

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
