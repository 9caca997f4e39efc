//go:build race

package link

func init() { raceDetector = true }
