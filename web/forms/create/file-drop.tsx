import { type ReactElement, type ReactNode, useState } from 'react';

/** A place that takes a file that is dropped on it. */
export function FileDrop({
  onFile,
  children,
}: {
  onFile: (file: File) => void;
  children: ReactNode;
}): ReactElement {
  const [isOver, setOver] = useState(false);
  return (
    <div
      className="file-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (!file) return;
        event.preventDefault();
        onFile(file);
      }}
    >
      {children}
    </div>
  );
}
