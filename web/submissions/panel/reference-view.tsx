import { Fragment, type ReactElement } from 'react';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Marked } from '../../design/marked.tsx';

/** The parameters that came with the submission. */
export function ReferenceView({
  submission,
  onEdit,
}: {
  submission: Pick<SubmissionDetail, 'reference' | 'hits'>;
  onEdit?: () => void;
}): ReactElement | null {
  const entries = Object.entries(submission.reference);
  if (entries.length === 0 && !onEdit) return null;
  return (
    <section className="panel-section">
      <div className="spread">
        <h3>Reference data</h3>
        {onEdit && (
          <Button size="small" variant="quiet" icon="edit" data-edit="reference" onPress={onEdit}>
            {entries.length === 0 ? 'Add' : 'Edit'}
            <span className="unseen"> reference data</span>
          </Button>
        )}
      </div>
      {entries.length === 0 ? (
        <p className="soft small">
          None. Parameters in the link of the form end up here, for example ?campaign=spring.
        </p>
      ) : (
        <dl className="reference">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>
                {name.split(/(?<=_)/).map((word, index) => (
                  <Fragment key={index}>
                    {index > 0 && <wbr />}
                    {word}
                  </Fragment>
                ))}
              </dt>
              <dd>
                <Marked text={value} hits={submission.hits} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
