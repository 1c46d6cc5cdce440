import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { callOperation, operationQuery } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { StatusChip } from '../design/chip.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { FieldsForm } from '../design/form-dialog.tsx';
import { Message } from '../design/message.tsx';
import { Card, SettingsPage } from '../design/page.tsx';
import { QueryState } from '../design/states.tsx';
import { useWorkspace } from './workspace.ts';

type Domain = ReplyOf<'listDomains'>['data'][number];

const domainsQuery = (id: string) =>
  queryOptions({ ...operationQuery(id, 'listDomains', {}), select: ({ data }) => data });

/** A domain with its status and, until it is verified, the DNS records that it needs. */
function DomainCard({ workspaceId, domain }: { workspaceId: string; domain: Domain }): ReactElement {
  const params = { id: domain.id };
  const verify = useAction({
    run: () => callOperation(workspaceId, 'verifyDomain', { params }),
    done: `${domain.domain} is verified.`,
  });
  const remove = useAction({
    run: () => callOperation(workspaceId, 'deleteDomain', { params }),
    confirm: {
      title: `Delete ${domain.domain}?`,
      label: 'Delete domain',
      text:
        domain.status === 'verified' &&
        'Links at this domain, also in sent emails and on other sites, stop working immediately.',
    },
    done: `${domain.domain} was deleted.`,
  });
  const isPending = domain.status === 'pending';
  return (
    <Card
      title={domain.domain}
      lead={
        isPending
          ? `At your DNS provider, point the domain to ${location.hostname} with a CNAME or A record, and create this TXT record. Then verify it.`
          : domain.is_used
            ? 'Links to your forms use this domain.'
            : 'Your forms also open at this domain. Links use the domain that was verified first.'
      }
      actions={<StatusChip status={domain.status} />}
    >
      {isPending && (
        <>
          <CopyField label="TXT record name" text={domain.record_name} />
          <CopyField label="TXT record value" text={domain.record_value} isMultiline />
          {verify.unlocated !== undefined && <Message tone="bad">{verify.unlocated}</Message>}
        </>
      )}
      <div className="row">
        {isPending && (
          <Button variant="primary" aria-label={`Verify ${domain.domain}`} {...verify.press()}>
            Verify
          </Button>
        )}
        <Button aria-label={`Delete ${domain.domain}`} {...remove.press()}>
          Delete
        </Button>
      </div>
      {remove.dialog}
    </Card>
  );
}

/** The domains at which the forms of a workspace are served. */
export function DomainsScreen(): ReactElement {
  const { id } = useWorkspace();
  const domains = useQuery(domainsQuery(id));
  const add = useAction({
    run: (body: { domain: string }) => callOperation(id, 'createDomain', { body }),
  });
  return (
    <SettingsPage title="Domains" lead="Serve your forms at your own domains.">
      <Card title="Add a domain">
        <FieldsForm
          label="Add domain"
          action={add}
          begin={{ domain: '' }}
          isCleared
          fields={{
            domain: {
              label: 'Domain',
              placeholder: 'forms.example.com',
              inputMode: 'url',
              description: 'Use a subdomain, so that your website keeps its address.',
            },
          }}
        />
      </Card>
      <QueryState query={domains} label="Loading domains…">
        {(rows) => rows.map((domain) => <DomainCard key={domain.id} workspaceId={id} domain={domain} />)}
      </QueryState>
    </SettingsPage>
  );
}
