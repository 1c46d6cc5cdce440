import './share-view.css';
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { Button, IconButton } from '../../design/button.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { TextField } from '../../design/field.tsx';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import type { OpenedForm } from '../saving/autosave.ts';
import { addLinkParameters, embedSnippet, type LinkParameter } from './links.ts';

const ShareQrCode = lazy(async () => ({ default: (await import('./share-qr-code.tsx')).ShareQrCode }));

/** Ways to share the public page: a link, a link with parameters, a QR code, and an embed code. */
export function ShareView({
  opened,
  onPublish,
}: {
  opened: OpenedForm;
  onPublish: () => void;
}): ReactElement {
  const { public_url: url, status, name } = opened.form;
  const [parameters, setParameters] = useState<readonly LinkParameter[]>([{ name: 'source', value: '' }]);
  const link = addLinkParameters(url, parameters);
  const change = (index: number, change: Partial<LinkParameter>): void =>
    setParameters(
      parameters.map((parameter, at) => (at === index ? { ...parameter, ...change } : parameter)),
    );
  return (
    <div className="builder-page">
      <div className="stack">
        <h2>Share</h2>
        {status !== 'published' && (
          <Message
            tone="warn"
            title="This form is not published yet"
            action={
              <Button variant="primary" onPress={onPublish} isDisabled={status === 'archived'}>
                Publish
              </Button>
            }
          >
            The link works after you publish the form.
          </Message>
        )}
        <Card title="Link">
          <CopyField label="Public link" text={url} />
        </Card>
        <Card
          title="Link with reference data"
          lead="URL parameters are saved with each submission as reference data, such as a customer number or a campaign."
        >
          <ul role="list" className="stack-tight">
            {parameters.map((parameter, index) => (
              <li key={index} className="share-parameter">
                <TextField
                  label="Name"
                  value={parameter.name}
                  onChange={(text) => change(index, { name: text })}
                />
                <TextField
                  label="Value"
                  value={parameter.value}
                  onChange={(text) => change(index, { value: text })}
                />
                <IconButton
                  icon="close"
                  label={`Remove parameter ${index + 1}`}
                  onPress={() => setParameters(parameters.toSpliced(index, 1))}
                />
              </li>
            ))}
          </ul>
          <div>
            <Button
              icon="add"
              size="small"
              onPress={() => setParameters([...parameters, { name: '', value: '' }])}
            >
              Add parameter
            </Button>
          </div>
          <CopyField label="Link with reference data" text={link} />
        </Card>
        <Card
          title="QR code"
          lead="Opens the link above with its reference data. Use it on posters and slides."
        >
          <Suspense fallback={<div className="qr-code" />}>
            <ShareQrCode text={link} name={name} />
          </Suspense>
        </Card>
        <Card
          title="Embed"
          lead="Adds the form to any web page, with the parameters above. Its height adapts to each step."
        >
          <CopyField label="Inline embed code" text={embedSnippet(url, { parameters })} isMultiline />
          <CopyField
            label="Popup embed code"
            text={embedSnippet(url, { parameters, popup: name })}
            isMultiline
          />
          <p className="soft small">
            The page can listen for the events formloom:loaded, formloom:step and formloom:submitted on its
            document.
          </p>
        </Card>
      </div>
    </div>
  );
}
