import './paths-dialog.css';
import type { ReactElement } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { SentenceText } from '../../conditions/condition-editor.tsx';
import { PipedText } from '../../design/author-text.tsx';
import { afterFocusReturned, Dialog } from '../../design/dialog.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { listPaths, type PathStep } from '../model/describe-logic.ts';

/** Sizes in pixels. The boxes have fixed heights, so the arrows need no measuring. */
const boxHeight = 48;
const jumpHeight = 32;
const gap = 28;
const laneWidth = 18;

/** Where each step begins, and below them the end of the form. */
function topsOf(steps: readonly PathStep[]): readonly number[] {
  const tops = [0];
  for (const { jumps } of steps) tops.push(tops.at(-1)! + boxHeight + jumps.length * jumpHeight + gap);
  return tops;
}

/**
 * The map of the form's paths: steps as boxes, jumps as arrows. A step opens on the canvas; a jump opens the
 * rules of its step.
 */
export function PathsDialog({ onClose }: { onClose: () => void }): ReactElement {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const { steps, lanes } = listPaths(root);
  const tops = topsOf(steps);
  const open = (key: string, part: 'node' | 'panel'): void => {
    onClose();
    afterFocusReturned(() => editor.select(key, part));
  };
  const width = (lanes + 1) * laneWidth;
  return (
    <Dialog title="Paths through the form" onClose={onClose} size="medium">
      <div className="paths" style={{ paddingInlineEnd: width }}>
        <ol role="list" className="paths-steps" style={{ gap }}>
          {steps.map(({ key, name, elements, jumps, isReached }, index) => (
            <li key={key} className="paths-step" data-unreached={!isReached || undefined}>
              <button
                type="button"
                className="paths-box"
                style={{ blockSize: boxHeight }}
                onClick={() => open(key, 'node')}
              >
                <span className="steps-number">{index + 1}</span>
                <span className="cut">
                  <PipedText text={name} />
                </span>
                <span className="soft small">
                  {isReached ? formatCount(elements, 'element') : 'Never reached'}
                </span>
              </button>
              {jumps.map(({ sentence }, at) => (
                <button
                  key={at}
                  type="button"
                  className="paths-jump small cut"
                  style={{ blockSize: jumpHeight }}
                  onClick={() => open(key, 'panel')}
                >
                  <SentenceText sentence={sentence} />
                </button>
              ))}
            </li>
          ))}
          <li className="paths-end soft" style={{ blockSize: boxHeight }}>
            End of the form
          </li>
        </ol>
        <svg className="paths-arrows" width={width} height={tops.at(-1)! + boxHeight} aria-hidden="true">
          {steps.flatMap(({ key, jumps }, index) =>
            jumps.map(({ to, lane }, at) => {
              const from = tops[index]! + boxHeight + (at + 0.5) * jumpHeight;
              const end = tops[to]! + boxHeight / 2;
              const side = (lane + 1) * laneWidth;
              return (
                <path
                  key={`${key} ${at}`}
                  d={`M0 ${from} H${side - 8} q8 0 8 8 V${end - 8} q0 8 -8 8 H2 m5 -5 l-5 5 l5 5`}
                />
              );
            }),
          )}
        </svg>
        <svg className="paths-onward" width="100%" height={tops.at(-1)} aria-hidden="true">
          {steps.map(
            ({ key, leadsOn }, index) =>
              leadsOn && (
                <path key={key} d={`M24 ${tops[index + 1]! - gap + 3} v${gap - 7} m-5 -5 l5 5 l5 -5`} />
              ),
          )}
        </svg>
      </div>
    </Dialog>
  );
}
