import { type ReactElement, useId, useRef, useState } from 'react';
import { ApiProblem } from '../../api/client.ts';
import { imageTypes, uploadImage } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { toastProblem } from '../../design/toast.tsx';

type ImageProps = {
  readonly label: string;
  readonly description: string;
  readonly workspaceId: string;
  /** The URL of the image, or undefined for none. */
  readonly address: string | undefined;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (id: string | undefined) => void;
};

/** An image field: an image can be chosen, which uploads it immediately, viewed and removed. */
export function ImageField({
  label,
  description,
  workspaceId,
  address,
  error,
  isReadOnly,
  onChange,
}: ImageProps): ReactElement {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | undefined>();
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setPending(true);
    setProblem(undefined);
    try {
      onChange(await uploadImage(workspaceId, file));
    } catch (failure) {
      if (!(failure instanceof ApiProblem)) throw failure;
      setProblem(failure.message);
      // If the user has left this view, the error is shown as a toast.
      if (!input.current) toastProblem(failure);
    } finally {
      setPending(false);
    }
  };
  const shownProblem = problem ?? error;
  return (
    <div className="field image-field" role="group" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`} className="field-label">
        {label}
      </span>
      <span className="field-description">{description}</span>
      {address && <img src={address} alt="" />}
      <input
        ref={input}
        type="file"
        hidden
        accept={imageTypes.join(',')}
        aria-label={label}
        onChange={(event) => {
          void choose(event.target.files?.[0]);
          // Clears the input, so that a removed file can be chosen again.
          event.target.value = '';
        }}
      />
      <div className="row">
        <Button
          size="small"
          icon="image"
          isPending={isPending}
          isDisabled={isReadOnly}
          aria-describedby={shownProblem ? `${id}-problem` : undefined}
          onPress={() => input.current?.click()}
        >
          {address ? `Replace ${label.toLowerCase()}` : `Choose ${label.toLowerCase()}`}
        </Button>
        {address && (
          <Button size="small" variant="quiet" isDisabled={isReadOnly} onPress={() => onChange(undefined)}>
            Remove {label.toLowerCase()}
          </Button>
        )}
      </div>
      <div id={`${id}-problem`} role="alert" className="field-error">
        {shownProblem}
      </div>
    </div>
  );
}
