import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { LoggedMail } from '#mail/shapes.ts';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { StatusChip } from '../../design/chip.tsx';
import { DataTable, type TableColumn } from '../../design/table.tsx';
import { Ago, sayMoment } from '../../design/time.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { refreshMail } from './mail-query.ts';
import { kindWords } from './mail-words.ts';

/** The mails of one page, each with its fate in words. */
export function MailTable({
  workspace,
  mails,
}: {
  workspace: string;
  mails: readonly LoggedMail[];
}): ReactElement {
  const columns: TableColumn<LoggedMail>[] = [
    {
      id: 'mail',
      title: 'Mail',
      cell: (mail) => (
        <div className="mail-what">
          <span className="mail-recipient">{mail.recipient}</span>
          <span>{mail.subject}</span>
          <span className="soft small">
            {[kindWords[mail.kind], ...(mail.form_name === null ? [] : [mail.form_name])].join(' · ')}
          </span>
        </div>
      ),
    },
    { id: 'state', title: 'State', cell: (mail) => <Fate workspace={workspace} mail={mail} /> },
    {
      id: 'written',
      title: 'Written',
      isSecondary: true,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
  ];
  return <DataTable label="Mails" columns={columns} rows={mails} rowId={({ id }) => id} />;
}

function Fate({ workspace, mail }: { workspace: string; mail: LoggedMail }): ReactElement {
  const retry = useMutation({
    mutationFn: () => call(workspace, 'retryMail', { params: { id: mail.id } }),
    async onSuccess() {
      toastDone(`The mail to ${mail.recipient} is on its way again.`);
      await refreshMail(workspace);
    },
    onError: toastProblem,
  });
  const waits = mail.state === 'queued' && mail.error !== null && mail.next_attempt_at !== null;
  return (
    <div className="mail-fate">
      <StatusChip status={mail.state} />
      {mail.error !== null && <span className="soft small mail-error">{mail.error}</span>}
      {waits && <span className="soft small">Next attempt: {sayMoment(mail.next_attempt_at!)}</span>}
      {mail.state === 'failed' && (
        <Button
          size="small"
          icon="refresh"
          aria-label={`Send again to ${mail.recipient}`}
          isPending={retry.isPending}
          onPress={() => retry.mutate()}
        >
          Send again
        </Button>
      )}
    </div>
  );
}
