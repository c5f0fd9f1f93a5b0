package trace

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"unicode/utf16"
	"unicode/utf8"
)

// Read follows the log of a version of PyTorch in a file, as [NewReader] does; "-" is
// standard input. The file may be compressed by gzip or bzip2, and its text may be
// UTF-16. It is an error if the file can't be read, has no line of a log, or if most
// of those lines are unknown.
func Read(name, torch string, ended func(Life)) (LogReport, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return LogReport{}, err
		}
		defer f.Close()
		in = f
	}
	text, err := decode(in)
	if err != nil {
		return LogReport{}, fmt.Errorf("%s: %w", name, err)
	}
	r := NewReader(torch, ended)
	_, err = io.CopyBuffer(r, struct{ io.Reader }{text}, make([]byte, 256<<10))
	cut := errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !cut {
		return LogReport{}, fmt.Errorf("%s: %w", name, err)
	}
	report := r.Close()
	report.Cut = cut
	bad := func(line int64, format string, args ...any) (LogReport, error) {
		return report, scanner.ErrorList{{
			Pos: token.Position{Filename: name, Line: int(line), Column: 1},
			Msg: fmt.Sprintf(format, args...),
		}}
	}
	switch {
	case report.Records == 0:
		return bad(1, "none of the %d lines is one of the log, [file.cpp:LINE] (subject) message; give the output of a PyTorch that prints them", report.Lines)
	case report.Unknown*2 > report.Records && len(report.Violations) == 0:
		return bad(report.Samples[0].Line, "%d of the log's %d lines are unknown, from this one on: %q; they are from another patch than those that print the storages' objects",
			report.Unknown, report.Records, report.Samples[0].Text)
	}
	return report, nil
}

// decode returns the UTF-8 text of a log that may be compressed or UTF-16.
func decode(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	head, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		return decode(z)
	case bytes.HasPrefix(head, []byte("BZh")):
		return decode(bzip2.NewReader(b))
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		b.Discard(3)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), len(head) > 1 && head[0] != 0 && head[1] == 0:
		return &utf16Reader{in: b, order: binary.LittleEndian}, nil
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), len(head) > 1 && head[0] == 0 && head[1] != 0:
		return &utf16Reader{in: b, order: binary.BigEndian}, nil
	}
	return b, nil
}

// A utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	high  rune // the first half of a surrogate pair
}

func (r *utf16Reader) Read(p []byte) (n int, err error) {
	for n+utf8.UTFMax <= len(p) {
		var unit [2]byte
		if _, err := io.ReadFull(r.in, unit[:]); err != nil {
			return n, err
		}
		c := rune(r.order.Uint16(unit[:]))
		switch {
		case c == 0xfeff: // the byte order mark
			continue
		case utf16.IsSurrogate(c) && c < 0xdc00:
			r.high = c
			continue
		case utf16.IsSurrogate(c):
			c = utf16.DecodeRune(r.high, c)
		}
		n += utf8.EncodeRune(p[n:], c)
	}
	return n, nil
}
