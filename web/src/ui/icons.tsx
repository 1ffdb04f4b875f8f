/** The icons, drawn on a 20 × 20 grid. They accompany a text or a label and are hidden from screen readers. */
const PATHS = {
  add: "M10 4v12M4 10h12",
  archive: "M3 5h14v3H3zM4.5 8v8h11V8M8 11h4",
  attach: "M14.5 9.5l-5 5a3.2 3.2 0 0 1-4.6-4.6l6-6a2.2 2.2 0 0 1 3.1 3.1l-6 6a1.1 1.1 0 0 1-1.6-1.6l5-5",
  back: "M12 5l-5 5 5 5",
  check: "M4 10.5l4 4 8-9",
  chevron: "M6 8l4 4 4-4",
  clock: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14M10 6v4l3 2",
  close: "M5 5l10 10M15 5L5 15",
  copy: "M7 7h9v9H7zM4 13V4h9",
  down: "M10 4v11M5 11l5 5 5-5",
  edit: "M4 16l1-4 8-8 3 3-8 8zM11.5 5.5l3 3",
  enlarge: "M12 3.5h4.5V8M8 16.5H3.5V12M16.5 3.5L11.5 8.5M3.5 16.5l5-5",
  export: "M10 12V3M6.5 6L10 2.8 13.5 6M4 11v5h12v-5",
  file: "M5 3h6l4 4v10H5zM11 3v4h4",
  folder: "M3 5h5l1.5 2H17v9H3z",
  forward: "M8 5l5 5-5 5",
  gear: "M10 7.4a2.6 2.6 0 1 0 0 5.2a2.6 2.6 0 0 0 0-5.2M10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M4.7 4.7l1.4 1.4M13.9 13.9l1.4 1.4M15.3 4.7l-1.4 1.4M6.1 13.9l-1.4 1.4",
  helm: "M10 5.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10 2v6.5M10 11.5V18M2 10h6.5M11.5 10H18M4.4 4.4l4.5 4.5M11.1 11.1l4.5 4.5M15.6 4.4l-4.5 4.5M8.9 11.1l-4.5 4.5",
  image: "M3 4h14v12H3zM3 13l4-4 4 4 2-2 4 4M13 7.5h.01",
  keyboard: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7",
  menu: "M3 5h14M3 10h14M3 15h14",
  "mode-agent": "M11 2.5L4.5 11.5H9l-1 6 6.5-9H10z",
  "mode-ask": "M3.5 4.5h13v9h-7L6 16.5v-3H3.5zM7 8h6M7 10.5h4",
  "mode-plan": "M4.5 4h11v13h-11zM7.5 4V2.8h5V4M7.5 8h5M7.5 11h5M7.5 14h3",
  "mode-review": "M8.8 3.5a5.3 5.3 0 1 0 0 10.6a5.3 5.3 0 0 0 0-10.6M12.7 12.7l4.3 4.3M6.5 8.8h4.6",
  "mode-supervised": "M10 2.5l6 2.3v4.7c0 4-2.6 6.6-6 8-3.4-1.4-6-4-6-8V4.8z",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  pause: "M7 4.5v11M13 4.5v11",
  play: "M6 4l10 6-10 6z",
  question: "M7 7.5a3 3 0 1 1 4.2 2.8c-.8.4-1.2.9-1.2 1.7M10 15h.01",
  retry: "M16 10a6 6 0 1 1-1.8-4.3M16 3v3.5h-3.5",
  rule: "M10 2.5l6 2.5v4.5c0 4-2.6 6.7-6 8-3.4-1.3-6-4-6-8V5zM7.5 10l2 2 3.5-4",
  send: "M10 16V4M5 9l5-5 5 5",
  shrink: "M16 8.5h-4.5V4M4 11.5h4.5V16M11.5 8.5L17 3M8.5 11.5L3 17",
  sidebar: "M3 4h14v12H3zM7.5 4v12",
  split: "M6 3v14M6 8c0 3 8 1 8 5v4M14 3v3",
  stop: "M6 6h8v8H6z",
  tool: "M12.5 3.5a4 4 0 0 0-4.3 5.3L3 14l3 3 5.2-5.2a4 4 0 0 0 5.3-4.3l-2.6 2.2-2.2-.7-.7-2.2z",
  trash: "M4 6h12M8 6V4h4v2M5.5 6l.8 11h7.4l.8-11M8.5 9v5M11.5 9v5",
  undo: "M7 4L3.5 7.5 7 11M4 7.5h7.5a4.5 4.5 0 0 1 0 9H8",
  warning: "M10 3l7.5 13.5h-15zM10 8v4M10 14.5h.01",
  why: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14M8 8a2 2 0 1 1 2.8 1.9c-.5.2-.8.6-.8 1.1M10 13.5h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon-drawing"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.4 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
