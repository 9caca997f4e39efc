package diag

import (
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// These are the parts of SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format) that
// ptxlink writes; objects with one property are maps. TestSARIF validates them against the schema.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      ID                `json:"id"`
		Short   map[string]string `json:"shortDescription"`
		Default map[string]string `json:"defaultConfiguration"` // the level
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Descriptor map[string]ID     `json:"descriptor,omitempty"` // the ID
		Level      string            `json:"level"`
		Message    map[string]string `json:"message"`
		Locations  []sarifLocation   `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID     ID                `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    map[string]string `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Related    []sarifLocation   `json:"relatedLocations,omitempty"`
		Properties map[string]string `json:"properties,omitempty"` // the help
	}
	sarifLocation struct {
		ID       *int              `json:"id,omitempty"`
		Physical sarifPhysical     `json:"physicalLocation"`
		Logical  []sarifLogical    `json:"logicalLocations,omitempty"`
		Message  map[string]string `json:"message,omitempty"`
		Props    map[string]string `json:"properties,omitempty"`
	}
	sarifLogical struct {
		Name      string `json:"name"`
		Decorated string `json:"decoratedName,omitempty"`
	}
	sarifPhysical struct {
		Artifact map[string]string `json:"artifactLocation"` // the URI
		Region   *sarifRegion      `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// writeSARIF writes one document with all messages. A message without a file, which is about the
// command line, must be a notification, because readers such as GitHub want a location in every
// result. So must a note, because it belongs to no rule. A result is at its source line as in
// writeGitHub.
func writeSARIF(w io.Writer, messages []*Message, style Style) error {
	run := sarifRun{
		Invocations: []sarifInvocation{{Successful: true}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	driver, rules := &run.Tool.Driver, map[ID]int{}
	*driver = sarifDriver{Name: "ptxlink", Version: style.Version, Rules: []sarifRule{}}
	invocation := &run.Invocations[0]
	for _, m := range messages {
		if m.Kind == Error {
			invocation.Successful = false
		}
		text := map[string]string{"text": sarifMessage(m)}
		if m.ID == "" || m.Place.Source == nil {
			n := sarifNotification{Level: m.Kind.String(), Message: text}
			if m.ID != "" {
				n.Descriptor = map[string]ID{"id": m.ID}
			}
			if m.Place.Source != nil {
				n.Locations = []sarifLocation{sarifAt(m.Place)}
			}
			invocation.Notifications = append(invocation.Notifications, n)
			continue
		}
		rule, _ := m.ID.Rule()
		index, known := rules[m.ID]
		if !known {
			index = len(rules)
			rules[m.ID] = index
			driver.Rules = append(driver.Rules, sarifRule{m.ID, map[string]string{"text": rule.About}, map[string]string{"level": rule.Kind.String()}})
		}
		places := atSource(m, inChange)
		place, notes := places[0].Place, places[1:]
		r := sarifResult{RuleID: m.ID, RuleIndex: index, Level: m.Kind.String(), Message: text, Locations: []sarifLocation{sarifAt(place)}}
		if m.Symbol != "" {
			r.Locations[0].Logical = []sarifLogical{{Name: style.Spelling.Demangle(m.Symbol), Decorated: m.Symbol}}
		}
		if m.Help != "" {
			r.Properties = map[string]string{"help": m.Help}
		}
		for _, n := range notes {
			if n.Place.Source == nil {
				continue // the text of the message has it
			}
			id, at := len(r.Related), sarifAt(n.Place)
			at.ID, at.Message, at.Props = &id, map[string]string{"text": n.Text}, map[string]string{"role": string(n.Role())}
			r.Related = append(r.Related, at)
		}
		run.Results = append(run.Results, r)
	}
	return WriteJSON(w, sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// sarifMessage returns the text, followed by the parts for which SARIF has no place: the notes
// without a file, and the help.
func sarifMessage(m *Message) string {
	lines := []string{m.Text}
	for _, n := range m.Notes {
		if n.Place.Source == nil {
			lines = append(lines, "note: "+n.Text)
		}
	}
	if m.Help != "" {
		lines = append(lines, "help: "+m.Help)
	}
	return strings.Join(lines, "\n")
}

func sarifAt(at Place) sarifLocation {
	file, line, column := at.Position()
	l := sarifLocation{Physical: sarifPhysical{Artifact: map[string]string{"uri": fileURI(file)}}}
	if line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: line, StartColumn: column}
		l.Physical.Region.EndLine, l.Physical.Region.EndColumn = at.End()
	}
	return l
}

// fileURI returns a name as a URI reference. An absolute path must be a file URI, because readers
// outside the directory need it.
func fileURI(name string) string {
	slashed := filepath.ToSlash(name)
	u := url.URL{Path: slashed}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
		if filepath.VolumeName(name) != "" { // also \\?\C:\dir, \\host\share and \\?\UNC\host
			slashed = strings.TrimPrefix(strings.Replace(slashed, "//?/UNC/", "//", 1), "//?/")
			if share, ok := strings.CutPrefix(slashed, "//"); ok {
				u.Host, slashed, _ = strings.Cut(share, "/")
			}
		}
		u.Path = path.Clean("/" + slashed)
	} else if first, _, _ := strings.Cut(slashed, "/"); slices.Contains([]byte(first), ':') {
		u.Path = "./" + slashed // otherwise the text before the colon would be a scheme
	}
	return u.String()
}
