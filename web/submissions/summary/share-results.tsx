import './share-results.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations/operations.ts';
import { callOperation, operationQuery } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { CheckboxGroup, RadioGroup } from '../../design/checkbox.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Select } from '../../design/select.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { formatDate } from '../../design/time.tsx';
import type { LocatedForm } from '../../shell/session.ts';

type Shares = ReplyOf<'listShares'>;
type Share = Shares['data'][number];

/** The button that shares results of a form by link, with its dialogs. */
export function ShareResults({ form }: { form: LocatedForm }): ReactElement {
  const [open, setOpen] = useState<'list' | 'create' | Share>();
  const shares = useQuery({
    ...operationQuery(form.workspace_id, 'listShares', { params: { id: form.id } }),
    enabled: open !== undefined,
  });
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Button icon="share" onPress={() => setOpen('list')}>
        Share results
      </Button>
      <Dialog
        title="Share results"
        size="medium"
        description="Everyone with a link can read the results. They are always up to date."
        isOpen={open === 'list'}
        onClose={close}
        keepsText
        actions={
          <Button variant="primary" icon="add" isDisabled={!shares.data} onPress={() => setOpen('create')}>
            Create link
          </Button>
        }
      >
        <QueryState
          query={shares}
          lines={3}
          empty={shares.data?.data.length === 0 && <EmptyState icon="link" title="No links yet" />}
        >
          {({ data }) => (
            <ul role="list" className="shares">
              {data.map((share) => (
                <ShareItem key={share.id} form={form} share={share} onEdit={() => setOpen(share)} />
              ))}
            </ul>
          )}
        </QueryState>
      </Dialog>
      {open !== undefined && open !== 'list' && shares.data && (
        <ShareDialog
          form={form}
          share={open === 'create' ? undefined : open}
          elements={shares.data.elements}
          onClose={() => setOpen('list')}
        />
      )}
    </>
  );
}

function ShareItem({
  form,
  share,
  onEdit,
}: {
  form: LocatedForm;
  share: Share;
  onEdit: () => void;
}): ReactElement {
  const revoke = useAction({
    run: () => callOperation(form.workspace_id, 'deleteShare', { params: { id: share.id } }),
    confirm: {
      title: `Revoke the link to “${share.title}”?`,
      label: 'Revoke link',
      text: 'It stops working immediately, also where it is embedded.',
    },
    done: 'The link was revoked.',
  });
  const facts = [
    kindLabels[share.kind],
    share.has_password && 'Password',
    share.expires_at && `Until ${formatDate(share.expires_at)}`,
    share.warnings.length > 0 && 'Personal data',
  ];
  return (
    <li className="stack-tight">
      <div className="spread">
        <div>
          <strong>{share.title}</strong>
          <p className="soft small">{facts.filter(Boolean).join(' · ')}</p>
        </div>
        <div className="row">
          <Button size="small" onPress={onEdit} aria-label={`Edit “${share.title}”`}>
            Edit
          </Button>
          <Button size="small" {...revoke.press()} aria-label={`Revoke “${share.title}”`}>
            Revoke
          </Button>
        </div>
      </div>
      <CopyField label="Link" text={share.url} />
      {revoke.dialog}
    </li>
  );
}

/** Creates a link, or changes the settings of `share`. */
function ShareDialog({
  form,
  share,
  elements,
  onClose,
}: {
  form: LocatedForm;
  share: Share | undefined;
  elements: Shares['elements'];
  onClose: () => void;
}): ReactElement {
  const [title, setTitle] = useState(share?.title ?? form.name);
  const [kind, setKind] = useState<Share['kind']>(share?.kind ?? 'summary');
  const [chosen, choose] = useState(
    () => share?.elements ?? elements.flatMap((each) => (each.is_personal ? [] : [each.id])),
  );
  const [protection, protect] = useState<'keep' | 'none' | 'new'>(share?.has_password ? 'keep' : 'new');
  const [password, setPassword] = useState('');
  const [days, setDays] = useState<Lifetime>(share?.expires_at ? 'keep' : '0');
  const save = useAction({
    run: () => {
      const body = {
        title,
        kind,
        elements: chosen,
        ...(protection === 'none' && { password: null }),
        ...(protection === 'new' && password !== '' && { password }),
        ...(days !== 'keep' && { expires_at: expiryIn(Number(days)) }),
      };
      return share
        ? callOperation(form.workspace_id, 'changeShare', { params: { id: share.id }, body })
        : callOperation(form.workspace_id, 'createShare', { params: { id: form.id }, body });
    },
    onDone: onClose,
  });
  const personal = elements.filter(({ id, is_personal }) => is_personal && chosen.includes(id));
  return (
    <FormDialog
      title={share ? 'Edit link' : 'Create link'}
      size="medium"
      onClose={onClose}
      onSubmit={() => save.mutate()}
      submitLabel={share ? 'Save' : 'Create link'}
      isDisabled={share?.has_password === true && protection === 'new' && password === ''}
      action={save}
    >
      <TextField label="Title" value={title} onChange={setTitle} error={save.of('title')} autoFocus />
      <RadioGroup label="Show" choices={kinds} value={kind} onChange={setKind} />
      <CheckboxGroup
        label="Questions"
        choices={elements.map(({ id, label, is_personal }) => ({
          id,
          label,
          ...(is_personal && { description: 'Asks for personal data' }),
        }))}
        value={chosen}
        onChange={choose}
      />
      {personal.length > 0 && (
        <Message tone="warn" title="Everyone with the link can read personal data">
          {personal.map(({ label }) => label).join(', ')}
        </Message>
      )}
      <Select
        label="Expires"
        choices={[
          ...(share?.expires_at
            ? [{ id: 'keep' as const, label: `On ${formatDate(share.expires_at)}` }]
            : []),
          ...lifetimes,
        ]}
        value={days}
        onChange={setDays}
      />
      {share?.has_password && (
        <Select label="Password protection" choices={protections} value={protection} onChange={protect} />
      )}
      {protection === 'new' && (
        <TextField
          label="Password"
          description={
            share?.has_password
              ? 'Visitors must enter it.'
              : 'Visitors must enter it. Leave empty for no password.'
          }
          type="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          error={save.of('password')}
        />
      )}
    </FormDialog>
  );
}

const kindLabels: Record<Share['kind'], string> = { summary: 'Summary', table: 'Table' };
const kinds = [
  { id: 'summary', label: kindLabels.summary, description: 'Counts the answers to each question.' },
  { id: 'table', label: kindLabels.table, description: 'Lists the answers of each submission.' },
] as const;
const lifetimes = [
  { id: '0', label: 'Never' },
  { id: '7', label: 'In 7 days' },
  { id: '30', label: 'In 30 days' },
  { id: '90', label: 'In 90 days' },
] as const;
type Lifetime = (typeof lifetimes)[number]['id'] | 'keep';

const expiryIn = (days: number): string | null =>
  days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString();

const protections = [
  { id: 'keep', label: 'Keep the password' },
  { id: 'new', label: 'Change the password' },
  { id: 'none', label: 'Remove the password' },
] as const;
