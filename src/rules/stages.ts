/** The colors of stages. The console draws each as the chip of a tone. */
export const stageColors = ['gray', 'blue', 'green', 'yellow', 'red'] as const;
export type StageColor = (typeof stageColors)[number];

/** The columns of what the workspace does with submissions. Conditions name them like elements. */
export const assignmentColumns = { stage: '$stage', assignee: '$assignee' } as const;

export const isAssignmentColumn = (id: string): boolean =>
  id === assignmentColumns.stage || id === assignmentColumns.assignee;
