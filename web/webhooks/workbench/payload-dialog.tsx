import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Payload, Webhook } from '#webhooks/shapes.ts';
import { CopyField } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Select } from '../../design/select.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { layOut } from '../log/delivery-words.ts';
import type { EventKind } from '../events.ts';
import { ReceiverCode } from './receiver-code.tsx';
import { payloadQuery } from './workbench-query.ts';

type Tab = 'receiver' | 'sample' | 'schema' | 'type';
type Props = { form: LocatedForm; webhook: Webhook; onClose: () => void };

/** For who writes the receiver: a program to start from, and what comes, as a sample, a schema and a type. */
export function PayloadDialog({ form, webhook, onClose }: Props): ReactElement {
  const [tab, setTab] = useState<Tab>('receiver');
  const found = useQuery(payloadQuery(form));
  const show = (draw: (payload: Payload) => ReactElement): ReactElement => {
    if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
    return found.data ? <div className="secret-fields">{draw(found.data)}</div> : <Loading lines={6} />;
  };
  return (
    <Dialog
      title="Write a receiver"
      description="Made for the live version of this form. Submissions of earlier versions keep the answers of theirs."
      size="large"
      isOpen
      onClose={onClose}
      done="Done"
    >
      <Tabs
        label="What a receiver gets"
        value={tab}
        onChange={setTab}
        tabs={[
          { id: 'receiver', label: 'Receiver', content: <ReceiverCode form={form} webhook={webhook.id} /> },
          {
            id: 'sample',
            label: 'Sample',
            content: show((payload) => <Sample {...payload} webhook={webhook} />),
          },
          {
            id: 'schema',
            label: 'JSON Schema',
            content: show(({ schema, schema_url }) => (
              <>
                <CopyField label="Address, for a key that may read forms" text={schema_url} />
                <CopyField label="JSON Schema of an event" text={schema} isMultiline />
              </>
            )),
          },
          {
            id: 'type',
            label: 'TypeScript',
            content: show(({ type_script }) => (
              <CopyField label="TypeScript type" text={type_script} isMultiline />
            )),
          },
        ]}
      />
    </Dialog>
  );
}

function Sample({ samples, feed_url, webhook }: Payload & { webhook: Webhook }): ReactElement {
  const [event, setEvent] = useState<EventKind>(webhook.events[0]!);
  const { body } = samples.find((sample) => sample.event === event)!;
  return (
    <>
      <Select
        label="Event"
        choices={webhook.events.map((kind) => ({ id: kind, label: kind }))}
        value={event}
        onChange={setEvent}
      />
      <CopyField label="Body of a sample" text={layOut(body)} isMultiline />
      <CopyField label="Or pull the same bodies, with a key that may read submissions" text={feed_url} />
    </>
  );
}
