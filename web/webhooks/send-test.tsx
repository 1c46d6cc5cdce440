import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { call } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Menu } from '../design/menu.tsx';
import { toastProblem } from '../design/toast.tsx';
import type { LocatedForm } from '../shell/form-place.ts';
import { type EventKind, eventChoices } from './events.ts';
import { refreshWebhooks } from './webhooks-query.ts';

type Props = {
  form: LocatedForm;
  webhook: Webhook;
  /** Where its outcome will be seen. */
  onSent: (delivery: string) => void;
};

/** Sends a sample of this form to the webhook; it asks for the event when the webhook hears of several. */
export function SendTest({ form, webhook, onSent }: Props): ReactElement {
  const send = useMutation({
    mutationFn: (event: EventKind) =>
      call(form.workspace_id, 'testWebhook', { params: { id: webhook.id }, body: { event } }),
    async onSuccess({ id }) {
      await refreshWebhooks(form);
      onSent(id);
    },
    onError: toastProblem,
  });
  const heard = eventChoices.filter(({ id }) => webhook.events.includes(id));
  const [first, ...others] = heard;
  if (first && others.length === 0) {
    return (
      <Button icon="send" isPending={send.isPending} onPress={() => send.mutate(first.id)}>
        Send test
      </Button>
    );
  }
  return (
    <Menu
      items={heard.map(({ id, label, description }) => ({
        id,
        label,
        description,
        onAction: () => send.mutate(id),
      }))}
    >
      <Button icon="send" isPending={send.isPending}>
        Send test
      </Button>
    </Menu>
  );
}
