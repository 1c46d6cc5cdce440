import type { ReactElement } from 'react';
import { isImageId } from '#ast/image-id.ts';
import { imageAddress } from '#page/theme/look.ts';
import { useForm } from '../../shell/form-place.ts';
import { useBuilder } from '../editor/use-editor.ts';
import { ImageField } from '../theme/image-field.tsx';

/** An image of an element, or of an option: of the workspace, as those of themes are. */
export function ShownImage({
  label,
  value,
  error,
  onChange,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}): ReactElement {
  const { isReadOnly } = useBuilder();
  const { id, workspace_id: workspaceId } = useForm();
  return (
    <ImageField
      label={label}
      description="PNG, JPEG or WebP, at most 10 MB."
      workspaceId={workspaceId}
      address={isImageId(value) ? imageAddress(id, value) : undefined}
      error={error}
      isReadOnly={isReadOnly}
      onChange={onChange}
    />
  );
}
