import type { ReactElement } from 'react';
import { Button } from 'react-aria-components/Button';
import type { Form } from '#ast/tree.ts';
import { TemplatePicture } from './template-picture.tsx';
import { templates } from '../templates/templates.ts';

/** The templates as cards with a sketch of what is in them. */
export function TemplateGallery({
  onChoose,
  isPending,
}: {
  onChoose: (structure: Form) => void;
  isPending: boolean;
}): ReactElement {
  return (
    <div className="template-grid">
      {templates.map(({ id, title, description, structure }) => (
        <Button key={id} className="template" isDisabled={isPending} onPress={() => onChoose(structure)}>
          <TemplatePicture form={structure} />
          <span className="template-text">
            <span className="template-name">{title}</span>
            <span className="soft small">{description}</span>
          </span>
        </Button>
      ))}
    </div>
  );
}
