import './share-view.css';
import type { ReactElement } from 'react';
import { Button } from '../../design/button.tsx';
import { downloadFile, downloadTextFile } from '../../design/files.ts';
import { QrCode, renderQrCodePng, renderQrCodeSvg } from '../../design/qr-code.tsx';
import { toastProblem } from '../../design/toast.tsx';

/** The QR code with a download. Loaded when the share view opens, because the generator is 20 KB. */
export function ShareQrCode({ text, name }: { text: string; name: string }): ReactElement {
  const fileName = name.replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-') || 'form';
  return (
    <div className="shared-code">
      <QrCode text={text} label={`QR code for ${text}`} size={168} />
      <div className="row">
        <Button
          icon="download"
          onPress={() => downloadTextFile(`${fileName}.svg`, renderQrCodeSvg(text), 'image/svg+xml')}
        >
          Download as SVG
        </Button>
        <Button
          icon="download"
          onPress={() =>
            void renderQrCodePng(text)
              .then((file) => downloadFile(`${fileName}.png`, file))
              .catch(toastProblem)
          }
        >
          Download as PNG
        </Button>
      </div>
    </div>
  );
}
